BEGIN TRANSACTION;
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
INSERT INTO "ledger_accounts" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','basic',1000000,0,'{}','{"max_rows": 1}','9b638526890dd950f55e11e1163938ec3561e075297a161e2c6d18aa9ec3cdec','{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "promise": {}, "rule": "basic", "threshold_units": 0, "unit": {"max_rows": 1}, "units": 1000000}, "ended": [[[], 350000]], "reserved": [[[], 370000]], "threshold_units": 0}');
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
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',0,'','opened',0,0,NULL,'2026-11-21T19:33:29+00:00','','7078d7a8688ede8a3be361aa55d29a5af71fd69d802713b8e23723f70d437049','{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "rule": "basic", "units": 1000000, "threshold_units": 0, "promise": {}, "unit": {"max_rows": 1}}}','a391fc6c0afd02c746e18bc6ccd9b3b8acf3cced0094abda290fbf105a0adb84');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',1,'r0','reserved',100000,0,NULL,'2026-11-21T19:33:29+00:00','7078d7a8688ede8a3be361aa55d29a5af71fd69d802713b8e23723f70d437049','8355a1e2b234413aa76a5095de364e7e41b90d6305e8953e1423d84e77024f80','{"plan": "p0"}','576e83d3f5dfce01ef4ebb0417b02e8838c3dc02304be26e3aff7f074273b5ea');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',2,'r0','committed',0,0,NULL,'2026-11-21T19:33:29+00:00','8355a1e2b234413aa76a5095de364e7e41b90d6305e8953e1423d84e77024f80','f5a259cb0b7785209374ea735b919e1fd48f0feaeb5599b586c284e2c87ceca7','{"release": "f6bc33af7987c5f25efda51ea13064f7c56faad516a1332efee4fc71685c0108"}','7fbf4c0cb70ae4afd238d502065e146ca0936b138d8a55752648aadcd1a36f74');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',3,'r1','reserved',100000,0,NULL,'2026-11-21T19:33:29+00:00','f5a259cb0b7785209374ea735b919e1fd48f0feaeb5599b586c284e2c87ceca7','4b9de83022ff15a8a86d068000b660c9b9c32c8676d7f80fe09ccff8cfd48718','{"plan": "p1"}','fe25e68d52a1a480da16f49cf440b278f1f6ce763f0edd44d3fd2ea2b7070d35');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',4,'r1','committed',0,0,NULL,'2026-11-21T19:33:29+00:00','4b9de83022ff15a8a86d068000b660c9b9c32c8676d7f80fe09ccff8cfd48718','ee4169aabacc4755e28585006106486ffad6eb23873e70e9326c6991dec9c397','{"release": "c40ffd4b1da7805cbba7f81a2f97c3ef3aa9d1455588357845a94165683a9c23"}','054e52575ff0736598d6b4443fc04c9612c2809de00e605580f069143f394b41');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',5,'r2','reserved',100000,0,NULL,'2026-11-21T19:33:29+00:00','ee4169aabacc4755e28585006106486ffad6eb23873e70e9326c6991dec9c397','54eb4b56945f88f6bfb545b06a6472a713121fe577d6270019c669c73c655ca2','{"plan": "p2"}','004cd54f757394d2e317402dd98d146175caf12bd546b89c142b34272c365137');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',6,'r2','committed',0,0,NULL,'2026-11-21T19:33:30+00:00','54eb4b56945f88f6bfb545b06a6472a713121fe577d6270019c669c73c655ca2','ea49282a8ff9ce1ed6d470a5016ada7c9f3e2c85a0f6d5caae8a9f94d065127b','{"release": "2ed4cfc8a1b1cc6631d6b2bf70b00173ac9d8eb3d6626473d005c8ede9582bcc"}','3186b5deb2df5a6c6ffd2b53fa390f5aa1bf61173d55faf0fd43d32cde717b2b');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',7,'bad','reserved',50000,0,NULL,'2026-11-21T19:33:30+00:00','ea49282a8ff9ce1ed6d470a5016ada7c9f3e2c85a0f6d5caae8a9f94d065127b','36c6d40d0cc917ce016161b25139a5bf63cdb0b3e52f36ab4a756f264e9132ce','{}','e5992cfe9d6f0a3f7f6d8c3efc51a3f3e7e939bbf35c072161a487a77a795bd6');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',8,'bad','failed',0,0,NULL,'2026-11-21T19:33:30+00:00','36c6d40d0cc917ce016161b25139a5bf63cdb0b3e52f36ab4a756f264e9132ce','d8bb636557dcbae43746f43e14962621d2ce824d35e60b3c3f77c421068a6c08','{"error": "ValueError"}','ccd9468e14cd4661ac5ab914f1873b71f73b7b60f620bedd5a265ae31f5a565f');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',9,'held','reserved',20000,0,NULL,'2026-11-21T19:33:30+00:00','d8bb636557dcbae43746f43e14962621d2ce824d35e60b3c3f77c421068a6c08','68a396966bbf544294c96e01b78a5d6afe6be8faf8b05fdb50c3ded2393b0580','{}','d596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',10,'seen','outside',0,0,NULL,'2026-11-21T19:33:30+00:00','68a396966bbf544294c96e01b78a5d6afe6be8faf8b05fdb50c3ded2393b0580','0b0cb118a356428531c2e4dd7551e1a0cb9193ca1ff034beff54e3ba6c730988','{"evaluation": "marginal error", "about": ["age"]}','d596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
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
CREATE TABLE ledger_running (
	dataset TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	PRIMARY KEY (dataset, request_id)
);
INSERT INTO "ledger_running" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','held','0183052303a34453810b6e01f9cbe764');
CREATE TABLE workbench (
	version INTEGER NOT NULL, 
	key_check TEXT NOT NULL
);
INSERT INTO "workbench" VALUES(2,'540c1d88003713a903af6944fc3a84748c28410258a9ac9ad0741f0c7192eee7');
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines (dataset, request_id) WHERE state IN ('committed', 'failed');
COMMIT;
