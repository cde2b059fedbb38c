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
INSERT INTO "ledger_accounts" VALUES('48acb03be0e14023e4e89d3e3ca8f0cbab23b389ce699a132cccb039e91e6a6f','basic',3000000000000,0,'{"epsilon": "3"}','{"max_rows": 1, "id_column": null, "neighbours": "add or remove"}','0fc461f3985d02dcda93a71046cf501e372d5247ba107559253381ea5274b8e9');
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
INSERT INTO "ledger_lines" VALUES('48acb03be0e14023e4e89d3e3ca8f0cbab23b389ce699a132cccb039e91e6a6f',0,'','opened',0,0,NULL,'2026-11-26T20:56:48+00:00','','b78ada2fe077988ac272ea45a6a721ec6887b29c8bbc996e978bf0fea07737c0','{"account": {"dataset": "48acb03be0e14023e4e89d3e3ca8f0cbab23b389ce699a132cccb039e91e6a6f", "rule": "basic", "units": 3000000000000, "threshold_units": 0, "promise": {"epsilon": "3"}, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}}}');
INSERT INTO "ledger_lines" VALUES('48acb03be0e14023e4e89d3e3ca8f0cbab23b389ce699a132cccb039e91e6a6f',1,'2500c103f1324e92b6545ad7c92cefa3','reserved',1000000000000,0,NULL,'2026-11-26T20:56:48+00:00','b78ada2fe077988ac272ea45a6a721ec6887b29c8bbc996e978bf0fea07737c0','c9ea3b6d2c2fa14000a52bbcf81253710ba8d83389a3f4e8eda30fff7b1fb322','{"plan": "d43e2bc1cbb4450dd8fe31e15316fff48317a772925ca953cedffa77078df638", "recipe": {"kind": "histogram", "column": "region"}, "loss": {"epsilon": "1"}}');
INSERT INTO "ledger_lines" VALUES('48acb03be0e14023e4e89d3e3ca8f0cbab23b389ce699a132cccb039e91e6a6f',2,'2500c103f1324e92b6545ad7c92cefa3','committed',0,0,NULL,'2026-11-26T20:56:48+00:00','c9ea3b6d2c2fa14000a52bbcf81253710ba8d83389a3f4e8eda30fff7b1fb322','7fc21f2f9f79128315dda28586a4b139dd5fbe530c67a81b415e0b997f6833a6','{"events": [{"mechanism": "discrete laplace", "reads": [["region"]], "rows": 1, "noise_scale": "0x1.0000000000000p+0"}], "release": "e7ca9abd78294d14c9754e52d67721f049ee6f2b87c9fef297c4a6a185ebf1b6"}');
CREATE TABLE ledger_releases (
	dataset TEXT NOT NULL, 
	request_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (dataset, request_id), 
	FOREIGN KEY(dataset) REFERENCES ledger_accounts (dataset)
);
INSERT INTO "ledger_releases" VALUES('48acb03be0e14023e4e89d3e3ca8f0cbab23b389ce699a132cccb039e91e6a6f','2500c103f1324e92b6545ad7c92cefa3','{"version": 1, "request_id": "2500c103f1324e92b6545ad7c92cefa3", "recipe": {"kind": "histogram", "column": "region"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": null, "neighbours": "add or remove"}, "columns": [{"kind": "categorical", "name": "region", "categories": ["r0", "r1", "r2", "r3", "Total"]}], "excluded": []}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1"}, "unit": "add or remove one person (one row)", "from_data": {}, "models": []}, "marginals": [{"clique": ["region"], "values": {"dtype": "<f8", "shape": [5], "data": "AAAAAAAALkAAAAAAAAAwQAAAAAAAAC5AAAAAAAAALkAAAAAAAADwPw=="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["region"], "sizes": [5], "marginals": [{"clique": ["region"], "values": {"dtype": "<f8", "shape": [5], "data": "AAAAAAAALkAAAAAAAAAwQAAAAAAAAC5AAAAAAAAALkAAAAAAAADwPw=="}, "variance": 1.8413471884155845, "noise": "laplace", "pooled": false}]}, "created": "2026-11-26T20:56:48+00:00", "part": null}');
CREATE TABLE workbench (
	version INTEGER NOT NULL, 
	key_check TEXT NOT NULL
);
INSERT INTO "workbench" VALUES(1,'540c1d88003713a903af6944fc3a84748c28410258a9ac9ad0741f0c7192eee7');
CREATE INDEX ledger_lines_charges ON ledger_lines (dataset, state, part, units, threshold_units);
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines (dataset, request_id) WHERE state IN ('committed', 'failed');
COMMIT;
