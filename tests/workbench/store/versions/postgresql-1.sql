CREATE TABLE ledger_accounts (
    dataset text NOT NULL,
    rule text NOT NULL,
    units bigint NOT NULL,
    threshold_units bigint NOT NULL,
    promise text NOT NULL,
    unit text NOT NULL,
    head text NOT NULL,
    CONSTRAINT ledger_accounts_rule_check CHECK ((rule = ANY (ARRAY['basic'::text, 'zcdp'::text]))),
    CONSTRAINT ledger_accounts_threshold_units_check CHECK ((threshold_units >= 0)),
    CONSTRAINT ledger_accounts_units_check CHECK ((units > 0))
);
CREATE TABLE ledger_lines (
    dataset text NOT NULL,
    number integer NOT NULL,
    request_id text NOT NULL,
    state text NOT NULL,
    units bigint NOT NULL,
    threshold_units bigint NOT NULL,
    part text,
    at text NOT NULL,
    previous text NOT NULL,
    digest text NOT NULL,
    content text NOT NULL,
    CONSTRAINT ledger_lines_check CHECK ((((units > 0) AND (state = 'reserved'::text)) OR ((units = 0) AND (state <> 'reserved'::text)))),
    CONSTRAINT ledger_lines_number_check CHECK ((number >= 0)),
    CONSTRAINT ledger_lines_state_check CHECK ((state = ANY (ARRAY['opened'::text, 'reserved'::text, 'committed'::text, 'failed'::text, 'outside'::text]))),
    CONSTRAINT ledger_lines_threshold_units_check CHECK ((threshold_units >= 0))
);
CREATE TABLE ledger_releases (
    dataset text NOT NULL,
    request_id text NOT NULL,
    text text NOT NULL
);
CREATE TABLE workbench (
    version integer NOT NULL,
    key_check text NOT NULL
);
INSERT INTO ledger_accounts VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'basic', 1000000, 0, '{}', '{"max_rows": 1}', '1c63da5359188d07982239be6bc6a5e7dcb70aec01aea02940e0d89ba41987d7');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 0, '', 'opened', 0, 0, NULL, '2026-11-21T19:33:24+00:00', '', '02257859696c854065c71a33b510e9bc5311063f0d7124e981e7842ce41718e3', '{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "rule": "basic", "units": 1000000, "threshold_units": 0, "promise": {}, "unit": {"max_rows": 1}}}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 1, 'r0', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:24+00:00', '02257859696c854065c71a33b510e9bc5311063f0d7124e981e7842ce41718e3', '172a7f6135e210a1b5756ec422b57e617150e05594ed4381b79288e7a8f3a174', '{"plan": "p0"}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 2, 'r0', 'committed', 0, 0, NULL, '2026-11-21T19:33:24+00:00', '172a7f6135e210a1b5756ec422b57e617150e05594ed4381b79288e7a8f3a174', '20a8664cddc19840ddb81e90330229dbe999906d58a4b45d4e0df97c22bf6199', '{"release": "f6bc33af7987c5f25efda51ea13064f7c56faad516a1332efee4fc71685c0108"}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 3, 'r1', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:24+00:00', '20a8664cddc19840ddb81e90330229dbe999906d58a4b45d4e0df97c22bf6199', 'c1d601a6a6a41d9ff72947bffb08afd063631455c7941eb3b4205826e77406b7', '{"plan": "p1"}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 4, 'r1', 'committed', 0, 0, NULL, '2026-11-21T19:33:24+00:00', 'c1d601a6a6a41d9ff72947bffb08afd063631455c7941eb3b4205826e77406b7', 'fad6a9bd9794766281f01e2e12bb7d6ff99450e871416449e84149fe9980dd31', '{"release": "c40ffd4b1da7805cbba7f81a2f97c3ef3aa9d1455588357845a94165683a9c23"}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 5, 'r2', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:24+00:00', 'fad6a9bd9794766281f01e2e12bb7d6ff99450e871416449e84149fe9980dd31', '38f09524679462aae300cabe35507dde4855d8ced1f9c2332abf9bd713d5ce3c', '{"plan": "p2"}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 6, 'r2', 'committed', 0, 0, NULL, '2026-11-21T19:33:24+00:00', '38f09524679462aae300cabe35507dde4855d8ced1f9c2332abf9bd713d5ce3c', '3bc1036635256150876b918f7c770e5e50b150c97004ce00dd8daa0b25a4a0ea', '{"release": "2ed4cfc8a1b1cc6631d6b2bf70b00173ac9d8eb3d6626473d005c8ede9582bcc"}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 7, 'bad', 'reserved', 50000, 0, NULL, '2026-11-21T19:33:24+00:00', '3bc1036635256150876b918f7c770e5e50b150c97004ce00dd8daa0b25a4a0ea', 'ee92112a3fd401b5c3daa5e1003a01e678cefe74c705539b072966ad435c3956', '{}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 8, 'bad', 'failed', 0, 0, NULL, '2026-11-21T19:33:24+00:00', 'ee92112a3fd401b5c3daa5e1003a01e678cefe74c705539b072966ad435c3956', '7122742bb008469312b232d8777e5cd93a148ed8f0761e5781acc32f528fae71', '{"error": "ValueError"}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 9, 'held', 'reserved', 20000, 0, NULL, '2026-11-21T19:33:24+00:00', '7122742bb008469312b232d8777e5cd93a148ed8f0761e5781acc32f528fae71', '684065b46063ab8aefdc6ded31305982e8a132d2c67085850338d26e4d7429cf', '{}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 10, 'seen', 'outside', 0, 0, NULL, '2026-11-21T19:33:24+00:00', '684065b46063ab8aefdc6ded31305982e8a132d2c67085850338d26e4d7429cf', '64c66e3fc5f32a719998810797101a1786b6322aded98a54e0f269c479ede727', '{"evaluation": "marginal error", "about": ["age"]}');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r0', 'release 0');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r1', 'release 1');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r2', 'release 2');
INSERT INTO workbench VALUES (1, '540c1d88003713a903af6944fc3a84748c28410258a9ac9ad0741f0c7192eee7');
ALTER TABLE ONLY ledger_accounts
    ADD CONSTRAINT ledger_accounts_pkey PRIMARY KEY (dataset);
ALTER TABLE ONLY ledger_lines
    ADD CONSTRAINT ledger_lines_dataset_request_id_state_key UNIQUE (dataset, request_id, state);
ALTER TABLE ONLY ledger_lines
    ADD CONSTRAINT ledger_lines_pkey PRIMARY KEY (dataset, number);
ALTER TABLE ONLY ledger_releases
    ADD CONSTRAINT ledger_releases_pkey PRIMARY KEY (dataset, request_id);
CREATE INDEX ledger_lines_charges ON ledger_lines USING btree (dataset, state, part, units, threshold_units);
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines USING btree (dataset, request_id) WHERE (state = ANY (ARRAY['committed'::text, 'failed'::text]));
ALTER TABLE ONLY ledger_lines
    ADD CONSTRAINT ledger_lines_dataset_fkey FOREIGN KEY (dataset) REFERENCES ledger_accounts(dataset);
ALTER TABLE ONLY ledger_releases
    ADD CONSTRAINT ledger_releases_dataset_fkey FOREIGN KEY (dataset) REFERENCES ledger_accounts(dataset);
