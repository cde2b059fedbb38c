CREATE TABLE ledger_accounts (
    dataset text NOT NULL,
    rule text NOT NULL,
    units bigint NOT NULL,
    threshold_units bigint NOT NULL,
    promise text NOT NULL,
    unit text NOT NULL,
    head text NOT NULL,
    standing text DEFAULT ''::text NOT NULL,
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
    standing text DEFAULT ''::text NOT NULL,
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
CREATE TABLE ledger_running (
    dataset text NOT NULL,
    request_id text NOT NULL,
    owner text NOT NULL
);
CREATE TABLE workbench (
    version integer NOT NULL,
    key_check text NOT NULL
);
INSERT INTO ledger_accounts VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'basic', 1000000, 0, '{}', '{"max_rows": 1}', 'adc9b2397c00f0ddf92cf2a38b4c099c098511ae2dee1ae6999105b9c7152147', '{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "promise": {}, "rule": "basic", "threshold_units": 0, "unit": {"max_rows": 1}, "units": 1000000}, "ended": [[[], 350000]], "reserved": [[[], 370000]], "threshold_units": 0}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 0, '', 'opened', 0, 0, NULL, '2026-11-21T19:33:30+00:00', '', '9b5201d828266346a043bcd0e1eaa9902ee46bd7fb8b875ade4aa4cdb34cb981', '{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "rule": "basic", "units": 1000000, "threshold_units": 0, "promise": {}, "unit": {"max_rows": 1}}}', 'a391fc6c0afd02c746e18bc6ccd9b3b8acf3cced0094abda290fbf105a0adb84');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 1, 'r0', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:30+00:00', '9b5201d828266346a043bcd0e1eaa9902ee46bd7fb8b875ade4aa4cdb34cb981', 'e3f43f1adc103caf7ad2280970d2f1a1f7c231606c0f27d312131326ee36ef11', '{"plan": "p0"}', '576e83d3f5dfce01ef4ebb0417b02e8838c3dc02304be26e3aff7f074273b5ea');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 2, 'r0', 'committed', 0, 0, NULL, '2026-11-21T19:33:30+00:00', 'e3f43f1adc103caf7ad2280970d2f1a1f7c231606c0f27d312131326ee36ef11', '618f8e220db1356e3ae0bf35b950862c39588e0f63cc0fb6c50c6c6df5cedea4', '{"release": "f6bc33af7987c5f25efda51ea13064f7c56faad516a1332efee4fc71685c0108"}', '7fbf4c0cb70ae4afd238d502065e146ca0936b138d8a55752648aadcd1a36f74');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 3, 'r1', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:30+00:00', '618f8e220db1356e3ae0bf35b950862c39588e0f63cc0fb6c50c6c6df5cedea4', 'cb2d3bd6888883a327d064a41579fd4d535d06ef460f80f4acd41db9c3c6f37e', '{"plan": "p1"}', 'fe25e68d52a1a480da16f49cf440b278f1f6ce763f0edd44d3fd2ea2b7070d35');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 4, 'r1', 'committed', 0, 0, NULL, '2026-11-21T19:33:30+00:00', 'cb2d3bd6888883a327d064a41579fd4d535d06ef460f80f4acd41db9c3c6f37e', '5c291b99b286feab70f208ade4ff7f301a7f68eb4712b173fa2319904eb73141', '{"release": "c40ffd4b1da7805cbba7f81a2f97c3ef3aa9d1455588357845a94165683a9c23"}', '054e52575ff0736598d6b4443fc04c9612c2809de00e605580f069143f394b41');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 5, 'r2', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:30+00:00', '5c291b99b286feab70f208ade4ff7f301a7f68eb4712b173fa2319904eb73141', '592d8a8b14856d9dccb685a4d83f0ccde1edb501c8de65132740cbb38225653c', '{"plan": "p2"}', '004cd54f757394d2e317402dd98d146175caf12bd546b89c142b34272c365137');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 6, 'r2', 'committed', 0, 0, NULL, '2026-11-21T19:33:30+00:00', '592d8a8b14856d9dccb685a4d83f0ccde1edb501c8de65132740cbb38225653c', '0bac4f03cc2e5a9ce954ac09025ee27c35e446fcee244c1cfb432cccf57647f4', '{"release": "2ed4cfc8a1b1cc6631d6b2bf70b00173ac9d8eb3d6626473d005c8ede9582bcc"}', '3186b5deb2df5a6c6ffd2b53fa390f5aa1bf61173d55faf0fd43d32cde717b2b');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 7, 'bad', 'reserved', 50000, 0, NULL, '2026-11-21T19:33:30+00:00', '0bac4f03cc2e5a9ce954ac09025ee27c35e446fcee244c1cfb432cccf57647f4', '06f905be78553c3e46971375bd365551ec4375956f9f975df388b727e7b723c8', '{}', 'e5992cfe9d6f0a3f7f6d8c3efc51a3f3e7e939bbf35c072161a487a77a795bd6');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 8, 'bad', 'failed', 0, 0, NULL, '2026-11-21T19:33:30+00:00', '06f905be78553c3e46971375bd365551ec4375956f9f975df388b727e7b723c8', '39be5d85adcee6cfc202e13c9887f2c544cac5dcf933fdf20dcd26dc6547650b', '{"error": "ValueError"}', 'ccd9468e14cd4661ac5ab914f1873b71f73b7b60f620bedd5a265ae31f5a565f');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 9, 'held', 'reserved', 20000, 0, NULL, '2026-11-21T19:33:30+00:00', '39be5d85adcee6cfc202e13c9887f2c544cac5dcf933fdf20dcd26dc6547650b', '2e28eda99b50e8ee81505caba493cde199a1e4b28d25ee0988121db0f9ef4833', '{}', 'd596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 10, 'seen', 'outside', 0, 0, NULL, '2026-11-21T19:33:30+00:00', '2e28eda99b50e8ee81505caba493cde199a1e4b28d25ee0988121db0f9ef4833', 'd0685001aa4889e2753d11270b75eaf0d089aef07c47e0a260a6bad14d0194e3', '{"evaluation": "marginal error", "about": ["age"]}', 'd596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r0', 'release 0');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r1', 'release 1');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r2', 'release 2');
INSERT INTO ledger_running VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'held', 'a833e61bbb8e4f079c02fee17e9bddba');
INSERT INTO workbench VALUES (2, '540c1d88003713a903af6944fc3a84748c28410258a9ac9ad0741f0c7192eee7');
ALTER TABLE ONLY ledger_accounts
    ADD CONSTRAINT ledger_accounts_pkey PRIMARY KEY (dataset);
ALTER TABLE ONLY ledger_lines
    ADD CONSTRAINT ledger_lines_dataset_request_id_state_key UNIQUE (dataset, request_id, state);
ALTER TABLE ONLY ledger_lines
    ADD CONSTRAINT ledger_lines_pkey PRIMARY KEY (dataset, number);
ALTER TABLE ONLY ledger_releases
    ADD CONSTRAINT ledger_releases_pkey PRIMARY KEY (dataset, request_id);
ALTER TABLE ONLY ledger_running
    ADD CONSTRAINT ledger_running_pkey PRIMARY KEY (dataset, request_id);
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines USING btree (dataset, request_id) WHERE (state = ANY (ARRAY['committed'::text, 'failed'::text]));
ALTER TABLE ONLY ledger_lines
    ADD CONSTRAINT ledger_lines_dataset_fkey FOREIGN KEY (dataset) REFERENCES ledger_accounts(dataset);
ALTER TABLE ONLY ledger_releases
    ADD CONSTRAINT ledger_releases_dataset_fkey FOREIGN KEY (dataset) REFERENCES ledger_accounts(dataset);
