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
CREATE TABLE survey_invitations (
    digest text NOT NULL,
    survey text NOT NULL,
    answered boolean NOT NULL
);
CREATE TABLE survey_reports (
    id text NOT NULL,
    survey text NOT NULL,
    report text NOT NULL
);
CREATE TABLE surveys (
    id text NOT NULL,
    key_digest text NOT NULL,
    question text NOT NULL,
    expires text NOT NULL,
    closed boolean NOT NULL
);
CREATE TABLE workbench (
    version integer NOT NULL,
    key_check text NOT NULL
);
INSERT INTO ledger_accounts VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'basic', 1000000, 0, '{}', '{"max_rows": 1}', 'aecfa2eebc02fddce3c5bde16e99a3e3e7f851e15a8b9553c3d47c8a33337374', '{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "promise": {}, "rule": "basic", "threshold_units": 0, "unit": {"max_rows": 1}, "units": 1000000}, "ended": [[[], 350000]], "reserved": [[[], 370000]], "threshold_units": 0}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 0, '', 'opened', 0, 0, NULL, '2026-11-21T19:33:38+00:00', '', '8101d13712c413c33271cf6f256116ee1d627f82db44a5d3c2e59d8203ba0d55', '{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "rule": "basic", "units": 1000000, "threshold_units": 0, "promise": {}, "unit": {"max_rows": 1}}}', 'a391fc6c0afd02c746e18bc6ccd9b3b8acf3cced0094abda290fbf105a0adb84');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 1, 'r0', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:38+00:00', '8101d13712c413c33271cf6f256116ee1d627f82db44a5d3c2e59d8203ba0d55', '18c71aec468106ebe3499bc6b893be58ecc8be29639bcc89f3e78c336190252e', '{"plan": "p0"}', '576e83d3f5dfce01ef4ebb0417b02e8838c3dc02304be26e3aff7f074273b5ea');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 2, 'r0', 'committed', 0, 0, NULL, '2026-11-21T19:33:38+00:00', '18c71aec468106ebe3499bc6b893be58ecc8be29639bcc89f3e78c336190252e', 'a3e8ede03bddded4ed0d9ee85d3ff664fe861ed7c5330c224d5928a0f764ac58', '{"release": "f6bc33af7987c5f25efda51ea13064f7c56faad516a1332efee4fc71685c0108"}', '7fbf4c0cb70ae4afd238d502065e146ca0936b138d8a55752648aadcd1a36f74');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 3, 'r1', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:38+00:00', 'a3e8ede03bddded4ed0d9ee85d3ff664fe861ed7c5330c224d5928a0f764ac58', '3f16f4ccd81fe3a4f737c780cf8cc2933a7435c823f2599120ca7a8d71f77cf9', '{"plan": "p1"}', 'fe25e68d52a1a480da16f49cf440b278f1f6ce763f0edd44d3fd2ea2b7070d35');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 4, 'r1', 'committed', 0, 0, NULL, '2026-11-21T19:33:38+00:00', '3f16f4ccd81fe3a4f737c780cf8cc2933a7435c823f2599120ca7a8d71f77cf9', 'cc8ddb5750aba259c607007845414e69986b1c3f59bafb9712f8f9b197143173', '{"release": "c40ffd4b1da7805cbba7f81a2f97c3ef3aa9d1455588357845a94165683a9c23"}', '054e52575ff0736598d6b4443fc04c9612c2809de00e605580f069143f394b41');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 5, 'r2', 'reserved', 100000, 0, NULL, '2026-11-21T19:33:38+00:00', 'cc8ddb5750aba259c607007845414e69986b1c3f59bafb9712f8f9b197143173', '927472932affc922996c61da4b5c312d2a7dd26bf2a1a3f8dd2ecc11c67c670b', '{"plan": "p2"}', '004cd54f757394d2e317402dd98d146175caf12bd546b89c142b34272c365137');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 6, 'r2', 'committed', 0, 0, NULL, '2026-11-21T19:33:38+00:00', '927472932affc922996c61da4b5c312d2a7dd26bf2a1a3f8dd2ecc11c67c670b', '99fcea389c27deb69576c5e094085d6a4096d0bb613e991ab12b6b2e953d8ef9', '{"release": "2ed4cfc8a1b1cc6631d6b2bf70b00173ac9d8eb3d6626473d005c8ede9582bcc"}', '3186b5deb2df5a6c6ffd2b53fa390f5aa1bf61173d55faf0fd43d32cde717b2b');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 7, 'bad', 'reserved', 50000, 0, NULL, '2026-11-21T19:33:38+00:00', '99fcea389c27deb69576c5e094085d6a4096d0bb613e991ab12b6b2e953d8ef9', '7a241f13e579b5af65099cf4db7ff50897b1e399196bed249b784d56408b1cba', '{}', 'e5992cfe9d6f0a3f7f6d8c3efc51a3f3e7e939bbf35c072161a487a77a795bd6');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 8, 'bad', 'failed', 0, 0, NULL, '2026-11-21T19:33:38+00:00', '7a241f13e579b5af65099cf4db7ff50897b1e399196bed249b784d56408b1cba', 'c9ba1865040ef28948bf0876c55f750eb25c1f8b4bc06001b5737c600df04bcb', '{"error": "ValueError"}', 'ccd9468e14cd4661ac5ab914f1873b71f73b7b60f620bedd5a265ae31f5a565f');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 9, 'held', 'reserved', 20000, 0, NULL, '2026-11-21T19:33:38+00:00', 'c9ba1865040ef28948bf0876c55f750eb25c1f8b4bc06001b5737c600df04bcb', '17a83450d9856f1d3100500ca71551f3101522116b78c4bfa304a27b7b4242db', '{}', 'd596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 10, 'seen', 'outside', 0, 0, NULL, '2026-11-21T19:33:38+00:00', '17a83450d9856f1d3100500ca71551f3101522116b78c4bfa304a27b7b4242db', '2831ed1abfa6729e8c86956e71005365b8af5ed69976166dd334634d468e9bad', '{"evaluation": "marginal error", "about": ["age"]}', 'd596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r0', 'release 0');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r1', 'release 1');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r2', 'release 2');
INSERT INTO ledger_running VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'held', 'a350724c39d14b20a93011fdc2d07730');
INSERT INTO survey_invitations VALUES ('8e9fa224f488a601af1b14e867eb6bf8496025b1bb5c0a78d1b94d3c7122efec', '5874b70ad3246b883bae53218046916e', false);
INSERT INTO survey_invitations VALUES ('fc7b7ec8d66d5876b7d12bbee5fe2b6f05b8d92e23a65c98b80e48bbec167fac', '5874b70ad3246b883bae53218046916e', true);
INSERT INTO survey_reports VALUES ('a7051395fa9e51381b017ef3fd6d9b76', '5874b70ad3246b883bae53218046916e', '1');
INSERT INTO surveys VALUES ('5874b70ad3246b883bae53218046916e', '8a6c2ac2eb1a2b4dd304c30cf0fb722f8aeba23b2395cccf64e1866fd38256f1', '{"question": "Q", "protocol": "randomized response", "epsilon": "7/10", "categories": ["a", "b", "c"]}', '9999-01-01T00:00:00+00:00', false);
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
ALTER TABLE ONLY survey_invitations
    ADD CONSTRAINT survey_invitations_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY survey_reports
    ADD CONSTRAINT survey_reports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY surveys
    ADD CONSTRAINT surveys_key_digest_key UNIQUE (key_digest);
ALTER TABLE ONLY surveys
    ADD CONSTRAINT surveys_pkey PRIMARY KEY (id);
CREATE INDEX ix_survey_invitations_survey ON survey_invitations USING btree (survey);
CREATE INDEX ix_survey_reports_survey ON survey_reports USING btree (survey);
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines USING btree (dataset, request_id) WHERE (state = ANY (ARRAY['committed'::text, 'failed'::text]));
ALTER TABLE ONLY ledger_lines
    ADD CONSTRAINT ledger_lines_dataset_fkey FOREIGN KEY (dataset) REFERENCES ledger_accounts(dataset);
ALTER TABLE ONLY ledger_releases
    ADD CONSTRAINT ledger_releases_dataset_fkey FOREIGN KEY (dataset) REFERENCES ledger_accounts(dataset);
ALTER TABLE ONLY survey_invitations
    ADD CONSTRAINT survey_invitations_survey_fkey FOREIGN KEY (survey) REFERENCES surveys(id);
ALTER TABLE ONLY survey_reports
    ADD CONSTRAINT survey_reports_survey_fkey FOREIGN KEY (survey) REFERENCES surveys(id);
