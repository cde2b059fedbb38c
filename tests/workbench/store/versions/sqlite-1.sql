BEGIN TRANSACTION;
CREATE TABLE ledger_accounts (
	dataset TEXT NOT NULL, 
	rule TEXT NOT NULL CHECK (rule IN ('basic', 'zcdp')), 
	units BIGINT NOT NULL CHECK (units > 0), 
	threshold_units BIGINT NOT NULL CHECK (threshold_units >= 0), 
	promise TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	head TEXT NOT NULL, 
	PRIMARY KEY (dataset)
);
INSERT INTO "ledger_accounts" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','basic',1000000,0,'{}','{"max_rows": 1}','530e4ab6daf4a705834b2b6292ade940066cd7efe51cdccca4f12d63b8e6cb51');
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
	PRIMARY KEY (dataset, number), 
	UNIQUE (dataset, request_id, state), 
	CHECK (state IN ('opened', 'reserved', 'committed', 'failed', 'outside')), 
	CHECK (units > 0 AND state = 'reserved' OR units = 0 AND state <> 'reserved'), 
	FOREIGN KEY(dataset) REFERENCES ledger_accounts (dataset)
);
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',0,'','opened',0,0,NULL,'2026-11-21T19:33:23+00:00','','7b3aaf56bae722930902c8c070dcb2fb043873f5c17a7a1f9d5b8ebe55ef9688','{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "rule": "basic", "units": 1000000, "threshold_units": 0, "promise": {}, "unit": {"max_rows": 1}}}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',1,'r0','reserved',100000,0,NULL,'2026-11-21T19:33:23+00:00','7b3aaf56bae722930902c8c070dcb2fb043873f5c17a7a1f9d5b8ebe55ef9688','32fc22d26de1ad6f3959e0350a62549c85f4e118a4ee66fc863499c52de520e3','{"plan": "p0"}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',2,'r0','committed',0,0,NULL,'2026-11-21T19:33:23+00:00','32fc22d26de1ad6f3959e0350a62549c85f4e118a4ee66fc863499c52de520e3','07048b4a8f2b2cec53459749eda811ffc8527a44465daaf368f5934ac7cebb29','{"release": "f6bc33af7987c5f25efda51ea13064f7c56faad516a1332efee4fc71685c0108"}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',3,'r1','reserved',100000,0,NULL,'2026-11-21T19:33:23+00:00','07048b4a8f2b2cec53459749eda811ffc8527a44465daaf368f5934ac7cebb29','c2fcb93f6f547de70e6bd6372ebeb37e5820b88785e00364e71dc1cde2bdb8ab','{"plan": "p1"}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',4,'r1','committed',0,0,NULL,'2026-11-21T19:33:23+00:00','c2fcb93f6f547de70e6bd6372ebeb37e5820b88785e00364e71dc1cde2bdb8ab','fd594f2165345fbd4cd35e3a9050dcdfa8846f721b1c4543fb8b92f40187db40','{"release": "c40ffd4b1da7805cbba7f81a2f97c3ef3aa9d1455588357845a94165683a9c23"}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',5,'r2','reserved',100000,0,NULL,'2026-11-21T19:33:23+00:00','fd594f2165345fbd4cd35e3a9050dcdfa8846f721b1c4543fb8b92f40187db40','f083f9f1c8d707c4a400041848839d0042ba77ad354ccd3cf61ac6b9ed559adb','{"plan": "p2"}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',6,'r2','committed',0,0,NULL,'2026-11-21T19:33:23+00:00','f083f9f1c8d707c4a400041848839d0042ba77ad354ccd3cf61ac6b9ed559adb','99f02bc335f18b1b2518ea978a9c578bfe7b600315996bbb69da6509d4134d76','{"release": "2ed4cfc8a1b1cc6631d6b2bf70b00173ac9d8eb3d6626473d005c8ede9582bcc"}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',7,'bad','reserved',50000,0,NULL,'2026-11-21T19:33:23+00:00','99f02bc335f18b1b2518ea978a9c578bfe7b600315996bbb69da6509d4134d76','96b05042cd4d0ff81eee5e31143e28e7d2f9073464c073b813761a33a20294f0','{}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',8,'bad','failed',0,0,NULL,'2026-11-21T19:33:23+00:00','96b05042cd4d0ff81eee5e31143e28e7d2f9073464c073b813761a33a20294f0','4dc4d2be582b1b81ad9241a81e92ea0ce7ff3583a5157b9788b42f98ed09850b','{"error": "ValueError"}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',9,'held','reserved',20000,0,NULL,'2026-11-21T19:33:23+00:00','4dc4d2be582b1b81ad9241a81e92ea0ce7ff3583a5157b9788b42f98ed09850b','c70dccbeedbe1fafe1c4cfe14bb60285b08af4eb588d707fe8515b04b3f8e540','{}');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',10,'seen','outside',0,0,NULL,'2026-11-21T19:33:23+00:00','c70dccbeedbe1fafe1c4cfe14bb60285b08af4eb588d707fe8515b04b3f8e540','c63f4f9dea21c49dc0df29541d1c85f8835c057e11def3a2f3a53307200a4278','{"evaluation": "marginal error", "about": ["age"]}');
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
CREATE TABLE workbench (
	version INTEGER NOT NULL, 
	key_check TEXT NOT NULL
);
INSERT INTO "workbench" VALUES(1,'540c1d88003713a903af6944fc3a84748c28410258a9ac9ad0741f0c7192eee7');
CREATE INDEX ledger_lines_charges ON ledger_lines (dataset, state, part, units, threshold_units);
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines (dataset, request_id) WHERE state IN ('committed', 'failed');
COMMIT;
