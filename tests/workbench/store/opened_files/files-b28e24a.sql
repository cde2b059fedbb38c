BEGIN TRANSACTION;
CREATE TABLE data_set_owners (
	dataset TEXT NOT NULL, 
	opener TEXT NOT NULL, 
	steward TEXT NOT NULL, 
	PRIMARY KEY (dataset)
);
INSERT INTO "data_set_owners" VALUES('b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99','','');
INSERT INTO "data_set_owners" VALUES('845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2','','');
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
INSERT INTO "ledger_accounts" VALUES('b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99','basic',3000000000000,0,'{"epsilon": "3"}','{"max_rows": 1, "id_column": null, "neighbours": "add or remove"}','2467cc3bdcadb38f1467025f0673e53a25388b97d7c6ada6da29ed22b90b8ea8','{"account": {"dataset": "b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99", "promise": {"epsilon": "3"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": null, "max_rows": 1, "neighbours": "add or remove"}, "units": 3000000000000}, "ended": [[[], 1000000000000]], "reserved": [[[], 1000000000000]], "threshold_units": 0}');
INSERT INTO "ledger_accounts" VALUES('845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2','basic',3000000000000,0,'{"epsilon": "3"}','{"max_rows": 1, "id_column": null, "neighbours": "add or remove"}','1c9cb68413501a76366c2732240d92c1415dfdd2a7f3d02162137ddd5c189b38','{"account": {"dataset": "845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2", "promise": {"epsilon": "3"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": null, "max_rows": 1, "neighbours": "add or remove"}, "units": 3000000000000}, "ended": [[[], 1000000000000]], "reserved": [[[], 1000000000000]], "threshold_units": 0}');
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
INSERT INTO "ledger_lines" VALUES('b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99',0,'','opened',0,0,NULL,'2026-11-26T20:57:16+00:00','','c5145fb227303c3d150770684ce49821d5a3a03e11e0190d98a67937628ed6e4','{"account": {"dataset": "b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99", "rule": "basic", "units": 3000000000000, "threshold_units": 0, "promise": {"epsilon": "3"}, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}}}','41b284eaf87324f70849a13baaa3e1c9b390efe06e42e83e325b8648b64c4c8e');
INSERT INTO "ledger_lines" VALUES('b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99',1,'d16dc42143494438b5cb3dfc20905c8a','reserved',1000000000000,0,NULL,'2026-11-26T20:57:16+00:00','c5145fb227303c3d150770684ce49821d5a3a03e11e0190d98a67937628ed6e4','fbacc824157bd6b501f98a62932513e5c192a00291af4f3d67bf27498397b3bb','{"plan": "e696053138fb763b763328fbdbf0e2f7519a3fd0abe8b7bca0cf0c3c8961c45c", "recipe": {"kind": "histogram", "column": "Kunde"}, "loss": {"epsilon": "1"}}','02ed24762a41f0a89386518138973590b5748192c236535875cdb9f3793c969a');
INSERT INTO "ledger_lines" VALUES('b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99',2,'d16dc42143494438b5cb3dfc20905c8a','committed',0,0,NULL,'2026-11-26T20:57:16+00:00','fbacc824157bd6b501f98a62932513e5c192a00291af4f3d67bf27498397b3bb','e9775e03662a1ac0a94383cf03a6534c75d6f3650938f9fdd42e388b6e505253','{"events": [{"mechanism": "discrete laplace", "reads": [["Kunde"]], "rows": 1, "noise_scale": "0x1.0000000000000p+0"}], "release": "637aa953cf1554052fb958e15f4b551c8df409eb21afcc97a9da3a2cb0438dd9"}','390fe16350c0725045520c8c0da68aed0482113871b8e980def3217b32dede7a');
INSERT INTO "ledger_lines" VALUES('b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99',3,'declaration 1','outside',0,0,NULL,'2026-11-26T20:57:16+00:00','e9775e03662a1ac0a94383cf03a6534c75d6f3650938f9fdd42e388b6e505253','31411d6596c6829a8bfe2194ea8a952c9991f4ca438f588d2d5d41e7c250787f','{"declared": {"name": "german.csv", "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "Kunde", "categories": ["A", "B", "C"], "other": true}]}, "excluded": [{"name": "Umsatz", "reason": "not needed", "from_data": []}, {"name": "Geburt", "reason": "not needed", "from_data": []}], "reading": {"encoding": "cp1252", "separator": ";", "decimal": ",", "header": true, "names": [], "skip": 0, "day_first": null}, "sample": ""}}','390fe16350c0725045520c8c0da68aed0482113871b8e980def3217b32dede7a');
INSERT INTO "ledger_lines" VALUES('845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2',0,'','opened',0,0,NULL,'2026-11-26T20:57:16+00:00','','59a9f75df5748b029abd8eea0d26624258b8b76b6096c5e6a000d102f2c8a2f5','{"account": {"dataset": "845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2", "rule": "basic", "units": 3000000000000, "threshold_units": 0, "promise": {"epsilon": "3"}, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}}}','cc673e54eb7160a85f7567a62350ac942115dd615576a1c23e2fb02aa0c7da97');
INSERT INTO "ledger_lines" VALUES('845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2',1,'479d20409d8f42b8bd1912595395dcf1','reserved',1000000000000,0,NULL,'2026-11-26T20:57:16+00:00','59a9f75df5748b029abd8eea0d26624258b8b76b6096c5e6a000d102f2c8a2f5','6350a86e3468468cfb9d579eab0f589fbc0d5a5f24295224ed3721b059c72a18','{"plan": "e03d2f843015eb76fe5968398dcf802f0708ffeb50abbbbe2394b19098bf13a9", "recipe": {"kind": "histogram", "column": "region"}, "loss": {"epsilon": "1"}}','dfae804cde0005d880bccfcf0d422c71952c67254bf827999c184eadef1d1aea');
INSERT INTO "ledger_lines" VALUES('845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2',2,'479d20409d8f42b8bd1912595395dcf1','committed',0,0,NULL,'2026-11-26T20:57:16+00:00','6350a86e3468468cfb9d579eab0f589fbc0d5a5f24295224ed3721b059c72a18','94be8e026fa49f8f6556e860ab5a3913df8ecb4f1098bc7409e6aab820a2e32c','{"events": [{"mechanism": "discrete laplace", "reads": [["region"]], "rows": 1, "noise_scale": "0x1.0000000000000p+0"}], "release": "1bfad7e445097a1550a1121c3aa9a2e780df6c4280d288652ed35573b7e94ff3"}','32c69f2b98edac921ddfd8d0e3b9c9fd2d317590bfbf825a023c62bdc13327c5');
INSERT INTO "ledger_lines" VALUES('845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2',3,'declaration 1','outside',0,0,NULL,'2026-11-26T20:57:16+00:00','94be8e026fa49f8f6556e860ab5a3913df8ecb4f1098bc7409e6aab820a2e32c','6506418ea4752e13181ab65f664a07ab7d284554203203e5abf20516172e8e87','{"declared": {"name": "months.csv", "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "region", "categories": ["r0", "r1", "r2", "r3"], "other": true}]}, "excluded": [{"name": "visits", "reason": "not needed", "from_data": []}, {"name": "seen", "reason": "not needed", "from_data": []}], "reading": {"encoding": "utf-8", "separator": ",", "decimal": ".", "header": true, "names": [], "skip": 0, "day_first": null}, "sample": ""}}','32c69f2b98edac921ddfd8d0e3b9c9fd2d317590bfbf825a023c62bdc13327c5');
CREATE TABLE ledger_releases (
	dataset TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (dataset, request_id), 
	FOREIGN KEY(dataset) REFERENCES ledger_accounts (dataset)
);
INSERT INTO "ledger_releases" VALUES('b938917ac79cf30ad9380f4109ffbd50e0cba8f9083e42ee2ca83802daf6fd99','d16dc42143494438b5cb3dfc20905c8a','{"version": 1, "request_id": "d16dc42143494438b5cb3dfc20905c8a", "recipe": {"kind": "histogram", "column": "Kunde"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "Kunde", "categories": ["A", "B", "C"], "other": true}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1"}, "stands_on": [], "unit": "add or remove one person (one row)", "from_data": {}, "models": []}, "marginals": [{"clique": ["Kunde"], "values": {"dtype": "<f8", "shape": [4], "data": "AAAAAAAANEAAAAAAAAA0QAAAAAAAADNAAAAAAAAA8L8="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["Kunde"], "sizes": [4], "marginals": [{"clique": ["Kunde"], "values": {"dtype": "<f8", "shape": [4], "data": "AAAAAAAANEAAAAAAAAA0QAAAAAAAADNAAAAAAAAA8L8="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}]}, "created": "2026-11-26T20:57:16+00:00", "part": null, "digest": "3334f6eb59f6ecf0b0f142f7cc911a928ceddfb734297e3ef143d1c55353f6e1"}');
INSERT INTO "ledger_releases" VALUES('845a0b1babf45f2598c374a3efa51987ef26f20ef6bc3920f8a665eb8984c0c2','479d20409d8f42b8bd1912595395dcf1','{"version": 1, "request_id": "479d20409d8f42b8bd1912595395dcf1", "recipe": {"kind": "histogram", "column": "region"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "region", "categories": ["r0", "r1", "r2", "r3"], "other": true}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1"}, "stands_on": [], "unit": "add or remove one person (one row)", "from_data": {}, "models": []}, "marginals": [{"clique": ["region"], "values": {"dtype": "<f8", "shape": [5], "data": "AAAAAAAALkAAAAAAAAAuQAAAAAAAADBAAAAAAAAAM0AAAAAAAADwPw=="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["region"], "sizes": [5], "marginals": [{"clique": ["region"], "values": {"dtype": "<f8", "shape": [5], "data": "AAAAAAAALkAAAAAAAAAuQAAAAAAAADBAAAAAAAAAM0AAAAAAAADwPw=="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}]}, "created": "2026-11-26T20:57:16+00:00", "part": null, "digest": "ffb29a5e653066029a4005a363a10278459ad0dcf671ff1083cfadfd8fc73a0b"}');
CREATE TABLE ledger_running (
	dataset TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	PRIMARY KEY (dataset, request_id)
);
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
);
INSERT INTO "workbench" VALUES(3,'540c1d88003713a903af6944fc3a84748c28410258a9ac9ad0741f0c7192eee7');
CREATE INDEX ix_data_set_owners_steward ON data_set_owners (steward);
CREATE INDEX ix_shares_dataset ON shares (dataset);
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines (dataset, request_id) WHERE state IN ('committed', 'failed');
CREATE INDEX ix_survey_invitations_survey ON survey_invitations (survey);
CREATE INDEX ix_survey_reports_survey ON survey_reports (survey);
COMMIT;
