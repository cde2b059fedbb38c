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
INSERT INTO "ledger_accounts" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','basic',1000000,0,'{}','{"max_rows": 1}','94b57df7fe83f14119d58f320b17b8281a188393cb4f5f6dbfe3c71f6662eb2f','{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "promise": {}, "rule": "basic", "threshold_units": 0, "unit": {"max_rows": 1}, "units": 1000000}, "ended": [[[], 350000]], "reserved": [[[], 370000]], "threshold_units": 0}');
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
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',0,'','opened',0,0,NULL,'2026-11-21T19:33:36+00:00','','2f41a7028e6f37711d1f3c36539f6f4fe61ca50603679aca694021f4e6ae881b','{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "rule": "basic", "units": 1000000, "threshold_units": 0, "promise": {}, "unit": {"max_rows": 1}}}','a391fc6c0afd02c746e18bc6ccd9b3b8acf3cced0094abda290fbf105a0adb84');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',1,'r0','reserved',100000,0,NULL,'2026-11-21T19:33:36+00:00','2f41a7028e6f37711d1f3c36539f6f4fe61ca50603679aca694021f4e6ae881b','c4c1090e6504a64d0238287cd5923c46d325d9e4ec7e8ed8ab6157f116f72bcb','{"plan": "p0"}','576e83d3f5dfce01ef4ebb0417b02e8838c3dc02304be26e3aff7f074273b5ea');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',2,'r0','committed',0,0,NULL,'2026-11-21T19:33:36+00:00','c4c1090e6504a64d0238287cd5923c46d325d9e4ec7e8ed8ab6157f116f72bcb','ad741aa64de7957d2c83488b236d208be1e71bd6f0f1a7042343bf88fcc4e9c9','{"release": "f6bc33af7987c5f25efda51ea13064f7c56faad516a1332efee4fc71685c0108"}','7fbf4c0cb70ae4afd238d502065e146ca0936b138d8a55752648aadcd1a36f74');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',3,'r1','reserved',100000,0,NULL,'2026-11-21T19:33:36+00:00','ad741aa64de7957d2c83488b236d208be1e71bd6f0f1a7042343bf88fcc4e9c9','d6f7672f85ae62d2691be676c244be4fdba5d1bbc6681afc6bb1441248f0407f','{"plan": "p1"}','fe25e68d52a1a480da16f49cf440b278f1f6ce763f0edd44d3fd2ea2b7070d35');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',4,'r1','committed',0,0,NULL,'2026-11-21T19:33:36+00:00','d6f7672f85ae62d2691be676c244be4fdba5d1bbc6681afc6bb1441248f0407f','ed6499971500ecb022261a1ff8425c5ca9f6e3cbfb123ecdd911fe58048b6163','{"release": "c40ffd4b1da7805cbba7f81a2f97c3ef3aa9d1455588357845a94165683a9c23"}','054e52575ff0736598d6b4443fc04c9612c2809de00e605580f069143f394b41');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',5,'r2','reserved',100000,0,NULL,'2026-11-21T19:33:36+00:00','ed6499971500ecb022261a1ff8425c5ca9f6e3cbfb123ecdd911fe58048b6163','308f15d9281dcc88d119af42da44f4707b60f825e3b89bd952409bbf97c744d7','{"plan": "p2"}','004cd54f757394d2e317402dd98d146175caf12bd546b89c142b34272c365137');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',6,'r2','committed',0,0,NULL,'2026-11-21T19:33:36+00:00','308f15d9281dcc88d119af42da44f4707b60f825e3b89bd952409bbf97c744d7','3fe3ed4952ec6337f50d99f0bd52f40a3a9593674cd073d701757b9a5e72aed1','{"release": "2ed4cfc8a1b1cc6631d6b2bf70b00173ac9d8eb3d6626473d005c8ede9582bcc"}','3186b5deb2df5a6c6ffd2b53fa390f5aa1bf61173d55faf0fd43d32cde717b2b');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',7,'bad','reserved',50000,0,NULL,'2026-11-21T19:33:36+00:00','3fe3ed4952ec6337f50d99f0bd52f40a3a9593674cd073d701757b9a5e72aed1','25466898b23552326b4adae89821e454609ce13dc579509f83a06087d1ec4317','{}','e5992cfe9d6f0a3f7f6d8c3efc51a3f3e7e939bbf35c072161a487a77a795bd6');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',8,'bad','failed',0,0,NULL,'2026-11-21T19:33:36+00:00','25466898b23552326b4adae89821e454609ce13dc579509f83a06087d1ec4317','a04c93da9b039ab82e524a9518e38b03bb68d4053a48f89f6bbc09a29b649aea','{"error": "ValueError"}','ccd9468e14cd4661ac5ab914f1873b71f73b7b60f620bedd5a265ae31f5a565f');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',9,'held','reserved',20000,0,NULL,'2026-11-21T19:33:36+00:00','a04c93da9b039ab82e524a9518e38b03bb68d4053a48f89f6bbc09a29b649aea','b8d637cb41034ae1befc0e33ed92d1f778e737fd6b5fc499a507a04a7a3b1b96','{}','d596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO "ledger_lines" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd',10,'seen','outside',0,0,NULL,'2026-11-21T19:33:36+00:00','b8d637cb41034ae1befc0e33ed92d1f778e737fd6b5fc499a507a04a7a3b1b96','f3e078dd87bf25a27629809a053e3da546f83abe7e9b74707c99b2204472a49e','{"evaluation": "marginal error", "about": ["age"]}','d596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
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
INSERT INTO "ledger_running" VALUES('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','held','cb63d1bef02c42c0bbe0c2700ec1329f');
CREATE TABLE survey_invitations (
	digest TEXT NOT NULL, 
	survey TEXT NOT NULL, 
	answered BOOLEAN NOT NULL, 
	PRIMARY KEY (digest), 
	FOREIGN KEY(survey) REFERENCES surveys (id)
);
INSERT INTO "survey_invitations" VALUES('fc7b7ec8d66d5876b7d12bbee5fe2b6f05b8d92e23a65c98b80e48bbec167fac','b274df4f91272987701b343ccef0be91',1);
INSERT INTO "survey_invitations" VALUES('8e9fa224f488a601af1b14e867eb6bf8496025b1bb5c0a78d1b94d3c7122efec','b274df4f91272987701b343ccef0be91',0);
CREATE TABLE survey_reports (
	id TEXT NOT NULL, 
	survey TEXT NOT NULL, 
	report TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(survey) REFERENCES surveys (id)
);
INSERT INTO "survey_reports" VALUES('15d6cd361664d46c98547d55d87e0ff2','b274df4f91272987701b343ccef0be91','1');
CREATE TABLE surveys (
	id TEXT NOT NULL, 
	key_digest TEXT NOT NULL, 
	question TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	closed BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (key_digest)
);
INSERT INTO "surveys" VALUES('b274df4f91272987701b343ccef0be91','8a6c2ac2eb1a2b4dd304c30cf0fb722f8aeba23b2395cccf64e1866fd38256f1','{"question": "Q", "protocol": "randomized response", "epsilon": "7/10", "categories": ["a", "b", "c"]}','9999-01-01T00:00:00+00:00',0);
CREATE TABLE workbench (
	version INTEGER NOT NULL, 
	key_check TEXT NOT NULL
);
INSERT INTO "workbench" VALUES(2,'540c1d88003713a903af6944fc3a84748c28410258a9ac9ad0741f0c7192eee7');
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines (dataset, request_id) WHERE state IN ('committed', 'failed');
CREATE INDEX ix_survey_invitations_survey ON survey_invitations (survey);
CREATE INDEX ix_survey_reports_survey ON survey_reports (survey);
COMMIT;
