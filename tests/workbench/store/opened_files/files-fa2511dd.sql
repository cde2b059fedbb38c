BEGIN TRANSACTION;
CREATE TABLE data_set_owners (
	dataset TEXT NOT NULL, 
	opener TEXT NOT NULL, 
	steward TEXT NOT NULL, 
	PRIMARY KEY (dataset)
);
INSERT INTO "data_set_owners" VALUES('612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e','','');
INSERT INTO "data_set_owners" VALUES('7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6','','');
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
INSERT INTO "ledger_accounts" VALUES('612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e','basic',3000000000000,0,'{"epsilon": "3"}','{"max_rows": 1, "id_column": null, "neighbours": "add or remove"}','e1373c7d76db5d306b1416d7c15772f236944d77a46381f0c0a782001276a6a1','{"account": {"dataset": "612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e", "promise": {"epsilon": "3"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": null, "max_rows": 1, "neighbours": "add or remove"}, "units": 3000000000000}, "ended": [[[], 1000000000000]], "reserved": [[[], 1000000000000]], "threshold_units": 0}');
INSERT INTO "ledger_accounts" VALUES('7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6','basic',3000000000000,0,'{"epsilon": "3"}','{"max_rows": 1, "id_column": null, "neighbours": "add or remove"}','81682c53cb1ccfc915cf7275b6ddb0e7329b04afa3fe9113d08a53863615ec32','{"account": {"dataset": "7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6", "promise": {"epsilon": "3"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": null, "max_rows": 1, "neighbours": "add or remove"}, "units": 3000000000000}, "ended": [[[], 1000000000000]], "reserved": [[[], 1000000000000]], "threshold_units": 0}');
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
INSERT INTO "ledger_lines" VALUES('612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e',0,'','opened',0,0,NULL,'2026-11-26T20:57:19+00:00','','69625e3bdc45f6988f87b42b2c082ec091bd4446b89938ecdd9d0daf6701f365','{"account": {"dataset": "612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e", "rule": "basic", "units": 3000000000000, "threshold_units": 0, "promise": {"epsilon": "3"}, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}}}','aae38ea1ffc1e700737fd947c6d58fdec2253c4bba67d03b222137009677f4f4');
INSERT INTO "ledger_lines" VALUES('612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e',1,'658bb8f1ab004f2a8826c5d7fb199853','reserved',1000000000000,0,NULL,'2026-11-26T20:57:19+00:00','69625e3bdc45f6988f87b42b2c082ec091bd4446b89938ecdd9d0daf6701f365','f31c336f0cb80288e99d5ac12b6ee5067bb192347ee365fbc8a8d77fa38cf3a6','{"plan": "7681b77efe58fefbffdfd7f318b37f42b29e3a364255e8eac8ba222bc4d4c5e5", "recipe": {"kind": "histogram", "column": "Kunde"}, "loss": {"epsilon": "1"}}','e1813136a102f88e8fb05ad0134d53f24a0b43aa16b3a959551dcaa99b226987');
INSERT INTO "ledger_lines" VALUES('612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e',2,'658bb8f1ab004f2a8826c5d7fb199853','committed',0,0,NULL,'2026-11-26T20:57:19+00:00','f31c336f0cb80288e99d5ac12b6ee5067bb192347ee365fbc8a8d77fa38cf3a6','2b24903fd4f649e4e20abd09421e2dee34c322845d3be623dbef89097b0091ab','{"events": [{"mechanism": "discrete laplace", "reads": [["Kunde"]], "rows": 1, "noise_scale": "0x1.0000000000000p+0"}], "release": "18bdd8047d7f5047df57bc01d061d264f2d7eac577a80872c7a9dfe66e15ce8a"}','f3227796b869d8f7d282c854c1aa9dfad57387e41e9ce6cc729cbd7083a1b952');
INSERT INTO "ledger_lines" VALUES('612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e',3,'declaration 1','outside',0,0,NULL,'2026-11-26T20:57:19+00:00','2b24903fd4f649e4e20abd09421e2dee34c322845d3be623dbef89097b0091ab','3656b9dc7d08b9f59c22ea18bb1ede12f12b767a59ddc8fae4d5e86eef980d67','{"declared": {"name": "german.csv", "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "Kunde", "categories": ["A", "B", "C"], "other": true}]}, "excluded": [{"name": "Umsatz", "reason": "not needed", "from_data": []}, {"name": "Geburt", "reason": "not needed", "from_data": []}], "reading": {"encoding": "cp1252", "separator": ";", "decimal": ",", "header": true, "names": [], "skip": 0, "day_first": null}, "sample": ""}}','f3227796b869d8f7d282c854c1aa9dfad57387e41e9ce6cc729cbd7083a1b952');
INSERT INTO "ledger_lines" VALUES('7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6',0,'','opened',0,0,NULL,'2026-11-26T20:57:19+00:00','','c98feb7a2cd987c268e626b363f5fca6e061e2c8741a3986a05cced3e4365b09','{"account": {"dataset": "7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6", "rule": "basic", "units": 3000000000000, "threshold_units": 0, "promise": {"epsilon": "3"}, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}}}','042ba6f4117cf2c981e34532d4ab3a2462cc180416148192f87a2f3d88997350');
INSERT INTO "ledger_lines" VALUES('7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6',1,'c1f599739a074dfaa9adbffa24651250','reserved',1000000000000,0,NULL,'2026-11-26T20:57:19+00:00','c98feb7a2cd987c268e626b363f5fca6e061e2c8741a3986a05cced3e4365b09','4196252f94a0b1ad0d5745eb0886425c3718704d2c252458dd792e106de42f5d','{"plan": "e9f494823cd6fbcb1b0cf1f03daaaafa190dcabfcda812f0a67c7800c846028d", "recipe": {"kind": "histogram", "column": "region"}, "loss": {"epsilon": "1"}}','c361e07c2b0f4d557d636383921b8bafb6508aa504481e7215cade593ea025db');
INSERT INTO "ledger_lines" VALUES('7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6',2,'c1f599739a074dfaa9adbffa24651250','committed',0,0,NULL,'2026-11-26T20:57:19+00:00','4196252f94a0b1ad0d5745eb0886425c3718704d2c252458dd792e106de42f5d','231d5704003d15aab1bb524370547a33d5d2e47e0f1cf090cf61af56ced4f85e','{"events": [{"mechanism": "discrete laplace", "reads": [["region"]], "rows": 1, "noise_scale": "0x1.0000000000000p+0"}], "release": "eac8044d852e0a5f9fb43aba52933246d0d01a43f398d7fb2de3c07eb5bc7ae1"}','aa81ac4c9a86dc5a481e346bf6022aac496823519ad2e77f8236091dbde722df');
INSERT INTO "ledger_lines" VALUES('7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6',3,'declaration 1','outside',0,0,NULL,'2026-11-26T20:57:19+00:00','231d5704003d15aab1bb524370547a33d5d2e47e0f1cf090cf61af56ced4f85e','6f2c133149affc6fb19519027eb6d8cd56cc5b3a66b9c290d94450d3955f07d9','{"declared": {"name": "months.csv", "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "region", "categories": ["r0", "r1", "r2", "r3"], "other": true}]}, "excluded": [{"name": "visits", "reason": "not needed", "from_data": []}, {"name": "seen", "reason": "not needed", "from_data": []}], "reading": {"encoding": "utf-8", "separator": ",", "decimal": ".", "header": true, "names": [], "skip": 0, "day_first": null}, "sample": ""}}','aa81ac4c9a86dc5a481e346bf6022aac496823519ad2e77f8236091dbde722df');
CREATE TABLE ledger_releases (
	dataset TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (dataset, request_id), 
	FOREIGN KEY(dataset) REFERENCES ledger_accounts (dataset)
);
INSERT INTO "ledger_releases" VALUES('612af87465e7fee19a614cc9697d01d1383cd0a541d4bea75ddadecaa3aead1e','658bb8f1ab004f2a8826c5d7fb199853','{"version": 1, "request_id": "658bb8f1ab004f2a8826c5d7fb199853", "recipe": {"kind": "histogram", "column": "Kunde"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "Kunde", "categories": ["A", "B", "C"], "other": true}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1"}, "stands_on": [], "unit": "add or remove one person (one row)", "from_data": {}, "known_from": {}, "models": []}, "marginals": [{"clique": ["Kunde"], "values": {"dtype": "<f8", "shape": [4], "data": "AAAAAAAAM0AAAAAAAAA0QAAAAAAAADRAAAAAAAAA8D8="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["Kunde"], "sizes": [4], "marginals": [{"clique": ["Kunde"], "values": {"dtype": "<f8", "shape": [4], "data": "AAAAAAAAM0AAAAAAAAA0QAAAAAAAADRAAAAAAAAA8D8="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}]}, "created": "2026-11-26T20:57:19+00:00", "part": null, "digest": "18eeeced90594691bcdfc3326996a764c6facb92e1ffcf2b844a356b5d64f16c"}');
INSERT INTO "ledger_releases" VALUES('7968ee04cc446faa1a412cdf9de8c3a586dd76316747f743c6ed17abaa5622d6','c1f599739a074dfaa9adbffa24651250','{"version": 1, "request_id": "c1f599739a074dfaa9adbffa24651250", "recipe": {"kind": "histogram", "column": "region"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "region", "categories": ["r0", "r1", "r2", "r3"], "other": true}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1"}, "stands_on": [], "unit": "add or remove one person (one row)", "from_data": {}, "known_from": {}, "models": []}, "marginals": [{"clique": ["region"], "values": {"dtype": "<f8", "shape": [5], "data": "AAAAAAAALkAAAAAAAAAyQAAAAAAAAC5AAAAAAAAAKkAAAAAAAADwPw=="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["region"], "sizes": [5], "marginals": [{"clique": ["region"], "values": {"dtype": "<f8", "shape": [5], "data": "AAAAAAAALkAAAAAAAAAyQAAAAAAAAC5AAAAAAAAAKkAAAAAAAADwPw=="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}]}, "created": "2026-11-26T20:57:19+00:00", "part": null, "digest": "125474aaecf01b46db1c2609fd0ee1ecdef98fb270f01a2cb7bc30ad03a05c90"}');
CREATE TABLE ledger_running (
	dataset TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	renewed BIGINT DEFAULT 0 NOT NULL, 
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
CREATE TABLE sign_outs (
	person TEXT NOT NULL, 
	until BIGINT NOT NULL, 
	PRIMARY KEY (person)
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
	key_check TEXT NOT NULL, 
	row_key TEXT DEFAULT '' NOT NULL
);
INSERT INTO "workbench" VALUES(5,'d9b4f7af6c353c00bc072a7950831afafdf047e04052870ff405de2e3132ac90','50536841181c654cf194e20cb654c0587af90daa5f14a1c11b3fc142089d940a');
CREATE INDEX ix_data_set_owners_steward ON data_set_owners (steward);
CREATE INDEX ix_shares_dataset ON shares (dataset);
CREATE INDEX ix_survey_invitations_survey ON survey_invitations (survey);
CREATE INDEX ix_survey_reports_survey ON survey_reports (survey);
COMMIT;
