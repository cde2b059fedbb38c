BEGIN TRANSACTION;
CREATE TABLE data_set_owners (
	dataset TEXT NOT NULL, 
	opener TEXT NOT NULL, 
	steward TEXT NOT NULL, 
	PRIMARY KEY (dataset)
);
INSERT INTO "data_set_owners" VALUES('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50','','');
INSERT INTO "data_set_owners" VALUES('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4','ada@example.org','ada@example.org');
INSERT INTO "data_set_owners" VALUES('source Visits','','');
CREATE TABLE data_set_viewers (
	dataset TEXT NOT NULL, 
	person TEXT NOT NULL, 
	PRIMARY KEY (dataset, person), 
	FOREIGN KEY(dataset) REFERENCES data_set_owners (dataset)
);
CREATE TABLE ledger_accounts (
	dataset TEXT NOT NULL, 
	rule TEXT NOT NULL CHECK (rule IN ('basic', 'zcdp')), 
	units BIGINT NOT NULL CHECK (units > 0), 
	threshold_units BIGINT NOT NULL CHECK (threshold_units >= 0), 
	promise TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	head TEXT NOT NULL, 
	standing TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (dataset)
);
INSERT INTO "ledger_accounts" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','basic',1000000,0,'{}','{"max_rows": 1}','40441f3f4ac4e17740089f94bb7c70021a59d6cf4aa1f9a37745263e6bfb20e6','{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "promise": {}, "rule": "basic", "threshold_units": 0, "unit": {"max_rows": 1}, "units": 1000000}, "ended": [[[], 350000]], "reserved": [[[], 370000]], "threshold_units": 0}');
INSERT INTO "ledger_accounts" VALUES('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50','basic',1000000000000,0,'{"epsilon": "1"}','{"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}','6915da2715ff6ae436a134f7fb2dcd3e2eb9670688b3ecd37ba63f469e9c4f4d','{"account": {"dataset": "c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50", "promise": {"epsilon": "1"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": "person", "max_rows": 1, "neighbours": "add or remove"}, "units": 1000000000000}, "ended": [[[], 250000000000]], "reserved": [[[], 250000000000]], "threshold_units": 0}');
INSERT INTO "ledger_accounts" VALUES('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4','basic',1000000000000,0,'{"epsilon": "1"}','{"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}','4c8a655bcaf2142375a7e1483439fc54d92b3604481c56afa9d30686a0f8141b','{"account": {"dataset": "638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4", "promise": {"epsilon": "1"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": "person", "max_rows": 1, "neighbours": "add or remove"}, "units": 1000000000000}, "ended": [[[], 250000000000]], "reserved": [[[], 250000000000]], "threshold_units": 0}');
INSERT INTO "ledger_accounts" VALUES('source Visits','basic',1000000000000,0,'{"epsilon": "1"}','{"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}','0298e9b554bb56eefdacfde1191f443f6ab32a8384563fdd3b8c09bcc6e51c38','{"account": {"dataset": "source Visits", "promise": {"epsilon": "1"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": "person", "max_rows": 1, "neighbours": "add or remove"}, "units": 1000000000000}, "ended": [[[], 500000000000]], "reserved": [[[], 500000000000]], "threshold_units": 0}');
CREATE TABLE ledger_lines (
	dataset TEXT NOT NULL, 
	number INTEGER NOT NULL CHECK (number >= 0), 
	request_id TEXT NOT NULL, 
	state TEXT NOT NULL, 
	units BIGINT NOT NULL, 
	threshold_units BIGINT NOT NULL CHECK (threshold_units >= 0), 
	part TEXT, 
	at TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	content TEXT NOT NULL, 
	standing TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (dataset, number), 
	UNIQUE (dataset, request_id, state), 
	CHECK (state IN ('opened', 'reserved', 'committed', 'failed', 'outside')), 
	CHECK (units > 0 AND state = 'reserved' OR units = 0 AND state <> 'reserved'), 
	FOREIGN KEY(dataset) REFERENCES ledger_accounts (dataset)
);
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',0,'','opened',0,0,NULL,'2026-11-23T03:40:25+00:00','','733aadcc0541accd5d866281741a6d70617006f891223ea4a054bb227b3633c7','{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "rule": "basic", "units": 1000000, "threshold_units": 0, "promise": {}, "unit": {"max_rows": 1}}}','a391fc6c0afd02c746e18bc6ccd9b3b8acf3cced0094abda290fbf105a0adb84');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',1,'r0','reserved',100000,0,NULL,'2026-11-23T03:40:25+00:00','733aadcc0541accd5d866281741a6d70617006f891223ea4a054bb227b3633c7','f4d20630455a177ec752e5c53e7a9c442a27dac190d1bcdfd1a182f53595e720','{"plan": "p0"}','576e83d3f5dfce01ef4ebb0417b02e8838c3dc02304be26e3aff7f074273b5ea');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',2,'r0','committed',0,0,NULL,'2026-11-23T03:40:25+00:00','f4d20630455a177ec752e5c53e7a9c442a27dac190d1bcdfd1a182f53595e720','097899ff587853f7a188f1392db968bc2082411168329d02351d3f77f09e4637','{"release": "f6bc33af7987c5f25efda51ea13064f7c56faad516a1332efee4fc71685c0108"}','7fbf4c0cb70ae4afd238d502065e146ca0936b138d8a55752648aadcd1a36f74');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',3,'r1','reserved',100000,0,NULL,'2026-11-23T03:40:25+00:00','097899ff587853f7a188f1392db968bc2082411168329d02351d3f77f09e4637','200269653235f1a6353822dc4a4139fb121aab876ef78f6df8e313850d05c647','{"plan": "p1"}','fe25e68d52a1a480da16f49cf440b278f1f6ce763f0edd44d3fd2ea2b7070d35');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',4,'r1','committed',0,0,NULL,'2026-11-23T03:40:25+00:00','200269653235f1a6353822dc4a4139fb121aab876ef78f6df8e313850d05c647','288d52e33af8a63468a5878fd79d79f755b0d5d664da936d56a0c34a09abe0a4','{"release": "c40ffd4b1da7805cbba7f81a2f97c3ef3aa9d1455588357845a94165683a9c23"}','054e52575ff0736598d6b4443fc04c9612c2809de00e605580f069143f394b41');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',5,'r2','reserved',100000,0,NULL,'2026-11-23T03:40:25+00:00','288d52e33af8a63468a5878fd79d79f755b0d5d664da936d56a0c34a09abe0a4','989f38d7b284d2133dc865c69cd5ed7b86019cef589fc9ae5cfb23bf3e9ceb2b','{"plan": "p2"}','004cd54f757394d2e317402dd98d146175caf12bd546b89c142b34272c365137');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',6,'r2','committed',0,0,NULL,'2026-11-23T03:40:25+00:00','989f38d7b284d2133dc865c69cd5ed7b86019cef589fc9ae5cfb23bf3e9ceb2b','2bc871462ed4f6457911696fa621a94e75faf882389013c2bfb1153891532b46','{"release": "2ed4cfc8a1b1cc6631d6b2bf70b00173ac9d8eb3d6626473d005c8ede9582bcc"}','3186b5deb2df5a6c6ffd2b53fa390f5aa1bf61173d55faf0fd43d32cde717b2b');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',7,'bad','reserved',50000,0,NULL,'2026-11-23T03:40:25+00:00','2bc871462ed4f6457911696fa621a94e75faf882389013c2bfb1153891532b46','005190adc63d5e69e93e3a0782d2801c25dc282605f0fe5131165c1be91c5b80','{"plan": "bad"}','e5992cfe9d6f0a3f7f6d8c3efc51a3f3e7e939bbf35c072161a487a77a795bd6');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',8,'bad','failed',0,0,NULL,'2026-11-23T03:40:25+00:00','005190adc63d5e69e93e3a0782d2801c25dc282605f0fe5131165c1be91c5b80','9bda691488a210e5f44d777dd460de0e0e84a58fd000c83f21476b3029ee3389','{"error": "Error"}','ccd9468e14cd4661ac5ab914f1873b71f73b7b60f620bedd5a265ae31f5a565f');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',9,'held','reserved',20000,0,NULL,'2026-11-23T03:40:25+00:00','9bda691488a210e5f44d777dd460de0e0e84a58fd000c83f21476b3029ee3389','f27bc96d059adc4f2a044964419e2511ec4865a2e0710beb43e240b600bca57c','{"plan": "held"}','d596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',10,'seen','outside',0,0,NULL,'2026-11-23T03:40:25+00:00','f27bc96d059adc4f2a044964419e2511ec4865a2e0710beb43e240b600bca57c','0e449c14f9bc27e126ccf1ca1dcd7e5a370e65e5770defa67d718854e909dfcd','{"evaluation": "look", "about": []}','d596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO "ledger_lines" VALUES('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50',0,'','opened',0,0,NULL,'2026-11-23T03:40:25+00:00','','98b07c2ea11021e2e3172ac39c11418db6814844357764d8ae5155346a9fa67f','{"account": {"dataset": "c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50", "rule": "basic", "units": 1000000000000, "threshold_units": 0, "promise": {"epsilon": "1"}, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}}}','70c8712abbe06ad2f8dca7ba40b082c31be50daca64f3a466cba48eeeacd309b');
INSERT INTO "ledger_lines" VALUES('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50',1,'507184ed53b94005a304401593e5a2c0','reserved',250000000000,0,NULL,'2026-11-23T03:40:25+00:00','98b07c2ea11021e2e3172ac39c11418db6814844357764d8ae5155346a9fa67f','4fd7e14d747df6be41e17576d564434f89139b74ad481e19946a399e8a9ffbb4','{"plan": "f4afc29fc2ae135d8625fbc27542f89510d2042fc5c7d4b4481a424bc5bfa86b", "recipe": {"kind": "histogram", "column": "age"}, "loss": {"epsilon": "1/4"}}','9b6bb8344fb002da3bc72bfa11cebbfe1037ec2a93cae44b0e0560b75e8e1f44');
INSERT INTO "ledger_lines" VALUES('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50',2,'507184ed53b94005a304401593e5a2c0','committed',0,0,NULL,'2026-11-23T03:40:25+00:00','4fd7e14d747df6be41e17576d564434f89139b74ad481e19946a399e8a9ffbb4','78219e8f4bd8fe9843c73aedf21e7329b9442851ca791ef758990dbe416cf080','{"events": [{"mechanism": "discrete laplace", "reads": [["age"]], "rows": 1, "noise_scale": "0x1.0000000000000p+2"}], "release": "7e04fe3ca44e686d7c3943d6243d3a2d4558df3bcf315995476580dd577072c9"}','54652e93fa3705de0ea6acad6478726819e5de872263ceeb92ed082d2482be1a');
INSERT INTO "ledger_lines" VALUES('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4',0,'','opened',0,0,NULL,'2026-11-23T03:40:25+00:00','','8a557aab08cf06ecfea59e61c1836ab182463f21059979d9d627cc7f43cb39e6','{"account": {"dataset": "638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4", "rule": "basic", "units": 1000000000000, "threshold_units": 0, "promise": {"epsilon": "1"}, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}}, "by": "ada@example.org"}','6b462a34e917c0a59a8c9e5f063b3d43896e3719bb288521e982b6ee60c632a3');
INSERT INTO "ledger_lines" VALUES('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4',1,'91eb6cda62e94e5fbe57eaaa19eaf4f9','reserved',250000000000,0,NULL,'2026-11-23T03:40:25+00:00','8a557aab08cf06ecfea59e61c1836ab182463f21059979d9d627cc7f43cb39e6','6ffdee84a1ec49d9110a3f5f16192759fda524d0e687d1041ab99692b19da500','{"plan": "5aa5e51152894a27435339cc1ff0fbdab251479ae28c6a4603c24a9925e08db4", "recipe": {"kind": "histogram", "column": "age"}, "loss": {"epsilon": "1/4"}, "by": "ada@example.org"}','1ea4978bd4120cb3f1dac24e7dd11b89b96047ae9a9fb443d0eb963990f40955');
INSERT INTO "ledger_lines" VALUES('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4',2,'91eb6cda62e94e5fbe57eaaa19eaf4f9','committed',0,0,NULL,'2026-11-23T03:40:25+00:00','6ffdee84a1ec49d9110a3f5f16192759fda524d0e687d1041ab99692b19da500','b219d3a0b137841ed121564b9c5ee100e982e7cc292c1d9aa92ec98e9f5b25ad','{"events": [{"mechanism": "discrete laplace", "reads": [["age"]], "rows": 1, "noise_scale": "0x1.0000000000000p+2"}], "by": "ada@example.org", "release": "0074d408efd9bd6361e484deaa9d235077bdcb35ace3d1107dc4c8e8bd142bbc"}','cf8ded60642603bc19b07b8d8f05b44c56fc70e01b790aa5c57e7e585a7730c6');
INSERT INTO "ledger_lines" VALUES('source Visits',0,'','opened',0,0,NULL,'2026-11-23T03:40:25+00:00','','71a0896e61099c06ee227f8dcb02db653df7392fa313dd087dcef30a87937536','{"account": {"dataset": "source Visits", "rule": "basic", "units": 1000000000000, "threshold_units": 0, "promise": {"epsilon": "1"}, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}}}','3c1becc695026fee582de2f486b3961639aa2f5c5b41b3a1421c96b8bfc61577');
INSERT INTO "ledger_lines" VALUES('source Visits',1,'1522eacbf2de47d6b5f3b33dfcd46638','reserved',500000000000,0,NULL,'2026-11-23T03:40:25+00:00','71a0896e61099c06ee227f8dcb02db653df7392fa313dd087dcef30a87937536','f7d8e150485f2e59e3ae853fce65f20f3ddc783868dee1176fa5fb2e1f14ee9e','{"plan": "04fe55be85cf262225e59a8761f575a8c7fa21412e7a4467d9fac0d471d158a4", "recipe": {"kind": "histogram", "column": "age"}, "loss": {"epsilon": "1/2"}}','a80752b10da14176f5a59e3834c1e2a275b39e9a04e82ee82c2d50f57282a349');
INSERT INTO "ledger_lines" VALUES('source Visits',2,'1522eacbf2de47d6b5f3b33dfcd46638','committed',0,0,NULL,'2026-11-23T03:40:25+00:00','f7d8e150485f2e59e3ae853fce65f20f3ddc783868dee1176fa5fb2e1f14ee9e','d62d54a4c05e835bb785ecf701dafd1c29796cf79efb05cc767e2733a5bc45d2','{"events": [{"mechanism": "discrete laplace", "reads": [["age"]], "rows": 1, "noise_scale": "0x1.0000000000000p+1"}], "release": "b16f287a6cb2b74842d0d6263ff95bdf2b77a872e845e9d4e8c3dfd8004e15b4"}','7dd51fd3d0045ff97e821a0b6024f808b089da3be022938a412096ef6a9c3965');
CREATE TABLE ledger_releases (
	dataset TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (dataset, request_id), 
	FOREIGN KEY(dataset) REFERENCES ledger_accounts (dataset)
);
INSERT INTO "ledger_releases" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','r0','release 0');
INSERT INTO "ledger_releases" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','r1','release 1');
INSERT INTO "ledger_releases" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','r2','release 2');
INSERT INTO "ledger_releases" VALUES('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50','507184ed53b94005a304401593e5a2c0','{"version": 1, "request_id": "507184ed53b94005a304401593e5a2c0", "recipe": {"kind": "histogram", "column": "age"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}, "columns": [{"kind": "integer", "name": "age", "low": 0, "high": 99, "bin_width": 10}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1/4"}, "stands_on": [], "unit": "add or remove one person (one row, named by ''person'')", "from_data": {}, "models": []}, "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAEMAAAAAAAAAIwAAAAAAAAAhAAAAAAAAAAMAAAAAAAAAUQAAAAAAAAAjAAAAAAAAAAEAAAAAAAADwvwAAAAAAABxAAAAAAAAAN8A="}, "variance": 31.833852877737304, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["age"], "sizes": [10], "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAEMAAAAAAAAAIwAAAAAAAAAhAAAAAAAAAAMAAAAAAAAAUQAAAAAAAAAjAAAAAAAAAAEAAAAAAAADwvwAAAAAAABxAAAAAAAAAN8A="}, "variance": 31.833852877737304, "noise": "laplace", "pooled": false}]}, "created": "2026-11-23T03:40:25+00:00", "part": null, "digest": "518ec258e69fc0284050eec253f070debc28d6e9a11a089dca2472ff4a169bdd"}');
INSERT INTO "ledger_releases" VALUES('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4','91eb6cda62e94e5fbe57eaaa19eaf4f9','{"version": 1, "request_id": "91eb6cda62e94e5fbe57eaaa19eaf4f9", "recipe": {"kind": "histogram", "column": "age"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}, "columns": [{"kind": "integer", "name": "age", "low": 0, "high": 99, "bin_width": 10}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1/4"}, "stands_on": [], "unit": "add or remove one person (one row, named by ''person'')", "from_data": {}, "models": []}, "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAAAAAAAAAAAAAQAAAAAAAACpAAAAAAAAAHEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAgQAAAAAAAACDAAAAAAAAA8L8="}, "variance": 31.833852877737304, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["age"], "sizes": [10], "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAAAAAAAAAAAAAQAAAAAAAACpAAAAAAAAAHEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAgQAAAAAAAACDAAAAAAAAA8L8="}, "variance": 31.833852877737304, "noise": "laplace", "pooled": false}]}, "created": "2026-11-23T03:40:25+00:00", "part": null, "digest": "ee7a92327970f4e63c0b9c92ee05736e77a2f21b3bcd68eb9003d5022a0bf366"}');
INSERT INTO "ledger_releases" VALUES('source Visits','1522eacbf2de47d6b5f3b33dfcd46638','{"version": 1, "request_id": "1522eacbf2de47d6b5f3b33dfcd46638", "recipe": {"kind": "histogram", "column": "age"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}, "columns": [{"kind": "integer", "name": "age", "low": 0, "high": 99, "bin_width": 10}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1/2"}, "stands_on": [], "unit": "add or remove one person (one row, named by ''person'')", "from_data": {}, "models": []}, "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAMAAAAAAAAAQQAAAAAAAAPA/AAAAAAAACEAAAAAAAAAUwAAAAAAAAAAAAAAAAAAACEA="}, "variance": 7.835396178065528, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["age"], "sizes": [10], "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAMAAAAAAAAAQQAAAAAAAAPA/AAAAAAAACEAAAAAAAAAUwAAAAAAAAAAAAAAAAAAACEA="}, "variance": 7.835396178065528, "noise": "laplace", "pooled": false}]}, "created": "2026-11-23T03:40:25+00:00", "part": null, "digest": "13ce887ed19f3ccb417f1db468c7640af8719ea6250fa99c6232fab94cd1fde5"}');
CREATE TABLE ledger_running (
	dataset TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	PRIMARY KEY (dataset, request_id)
);
INSERT INTO "ledger_running" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','held','973d6d2f015a419d924917c49a77e98c');
CREATE TABLE shares (
	id TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	title TEXT NOT NULL, 
	note TEXT NOT NULL, 
	contents TEXT NOT NULL, 
	readers TEXT NOT NULL, 
	text TEXT NOT NULL, 
	made TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	ended TEXT NOT NULL, 
	opened INTEGER NOT NULL, 
	last_opened TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (digest)
);
CREATE TABLE survey_invitations (
	digest TEXT NOT NULL, 
	survey TEXT NOT NULL, 
	answered BOOLEAN NOT NULL, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(survey) REFERENCES surveys (id)
);
CREATE TABLE survey_reports (
	id TEXT NOT NULL, 
	survey TEXT NOT NULL, 
	report TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(survey) REFERENCES surveys (id)
);
CREATE TABLE surveys (
	id TEXT NOT NULL, 
	key_digest TEXT NOT NULL, 
	question TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	closed BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (key_digest)
);
CREATE TABLE workbench (
	version INTEGER NOT NULL, 
	key_check TEXT NOT NULL
, row_key TEXT NOT NULL DEFAULT '');
INSERT INTO "workbench" VALUES(4,'30f45a3dfbcdab04b85c31170ca52a0dfabb90ad941f5aa5d3da143872dc6119','bede0e5126b19e85e1c31a64adb472dd5c3106b18a115f68a5354f22a7e0d3b5');
CREATE INDEX ix_data_set_owners_steward ON data_set_owners (steward);
CREATE INDEX ix_shares_dataset ON shares (dataset);
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines (dataset, request_id) WHERE state IN ('committed', 'failed');
CREATE INDEX ix_survey_invitations_survey ON survey_invitations (survey);
CREATE INDEX ix_survey_reports_survey ON survey_reports (survey);
COMMIT;
