CREATE TABLE data_set_owners (
    dataset text NOT NULL,
    opener text NOT NULL,
    steward text NOT NULL
);
CREATE TABLE data_set_viewers (
    dataset text NOT NULL,
    person text NOT NULL
);
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
CREATE TABLE shares (
    id text NOT NULL,
    digest text NOT NULL,
    dataset text NOT NULL,
    title text NOT NULL,
    note text NOT NULL,
    contents text NOT NULL,
    readers text NOT NULL,
    text text NOT NULL,
    made text NOT NULL,
    expires text NOT NULL,
    ended text NOT NULL,
    opened integer NOT NULL,
    last_opened text NOT NULL
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
    key_check text NOT NULL,
    row_key text DEFAULT ''::text NOT NULL
);
INSERT INTO data_set_owners VALUES ('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50', '', '');
INSERT INTO data_set_owners VALUES ('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4', 'ada@example.org', 'ada@example.org');
INSERT INTO data_set_owners VALUES ('source Visits', '', '');
INSERT INTO ledger_accounts VALUES ('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4', 'basic', 1000000000000, 0, '{"epsilon": "1"}', '{"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}', 'bcbf46587ead2259d8cd7581a25c092075d9c749d06c17c59b4d55b5d8e73848', '{"account": {"dataset": "638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4", "promise": {"epsilon": "1"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": "person", "max_rows": 1, "neighbours": "add or remove"}, "units": 1000000000000}, "ended": [[[], 250000000000]], "reserved": [[[], 250000000000]], "threshold_units": 0}');
INSERT INTO ledger_accounts VALUES ('source Visits', 'basic', 1000000000000, 0, '{"epsilon": "1"}', '{"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}', '21e4f81297620c242292d76786759e283b56a768b0d7dcef0d29d72a6603eb15', '{"account": {"dataset": "source Visits", "promise": {"epsilon": "1"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": "person", "max_rows": 1, "neighbours": "add or remove"}, "units": 1000000000000}, "ended": [[[], 500000000000]], "reserved": [[[], 500000000000]], "threshold_units": 0}');
INSERT INTO ledger_accounts VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'basic', 1000000, 0, '{}', '{"max_rows": 1}', '3ed1b4bb50c39f7ea5759638e663db6f23954177822257123d73ec6668651b7b', '{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "promise": {}, "rule": "basic", "threshold_units": 0, "unit": {"max_rows": 1}, "units": 1000000}, "ended": [[[], 350000]], "reserved": [[[], 370000]], "threshold_units": 0}');
INSERT INTO ledger_accounts VALUES ('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50', 'basic', 1000000000000, 0, '{"epsilon": "1"}', '{"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}', 'c7f56ec95181f1b6bb639fdfefc1fc1bc819d060b1de9a5219db1eed8c0c0d34', '{"account": {"dataset": "c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50", "promise": {"epsilon": "1"}, "rule": "basic", "threshold_units": 0, "unit": {"id_column": "person", "max_rows": 1, "neighbours": "add or remove"}, "units": 1000000000000}, "ended": [[[], 250000000000]], "reserved": [[[], 250000000000]], "threshold_units": 0}');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 0, '', 'opened', 0, 0, NULL, '2026-11-23T03:40:26+00:00', '', 'ecc36dcf88d5d8505a0f1c6c64c151f3a7cc45b1a4e1ab9cc18217c33281723f', '{"account": {"dataset": "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", "rule": "basic", "units": 1000000, "threshold_units": 0, "promise": {}, "unit": {"max_rows": 1}}}', 'a391fc6c0afd02c746e18bc6ccd9b3b8acf3cced0094abda290fbf105a0adb84');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 1, 'r0', 'reserved', 100000, 0, NULL, '2026-11-23T03:40:26+00:00', 'ecc36dcf88d5d8505a0f1c6c64c151f3a7cc45b1a4e1ab9cc18217c33281723f', '4d8c2a03d63cbff5b2c852c75696681f65f6d6ec1bd921d1d6d4379d1bf44ddb', '{"plan": "p0"}', '576e83d3f5dfce01ef4ebb0417b02e8838c3dc02304be26e3aff7f074273b5ea');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 2, 'r0', 'committed', 0, 0, NULL, '2026-11-23T03:40:26+00:00', '4d8c2a03d63cbff5b2c852c75696681f65f6d6ec1bd921d1d6d4379d1bf44ddb', '299bcd9703e512440230fe7df1d59536fb4eaadc323f0bce675e8eb956d03765', '{"release": "f6bc33af7987c5f25efda51ea13064f7c56faad516a1332efee4fc71685c0108"}', '7fbf4c0cb70ae4afd238d502065e146ca0936b138d8a55752648aadcd1a36f74');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 3, 'r1', 'reserved', 100000, 0, NULL, '2026-11-23T03:40:26+00:00', '299bcd9703e512440230fe7df1d59536fb4eaadc323f0bce675e8eb956d03765', 'c1bc433eb1785d907b40d537ea3bf200eac1f906ed33688468e3096dc37407c4', '{"plan": "p1"}', 'fe25e68d52a1a480da16f49cf440b278f1f6ce763f0edd44d3fd2ea2b7070d35');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 4, 'r1', 'committed', 0, 0, NULL, '2026-11-23T03:40:26+00:00', 'c1bc433eb1785d907b40d537ea3bf200eac1f906ed33688468e3096dc37407c4', 'ab6490bdc503b0c0ca4702f10c382f14178fe3b187dca052c79fa93cbaa76dc9', '{"release": "c40ffd4b1da7805cbba7f81a2f97c3ef3aa9d1455588357845a94165683a9c23"}', '054e52575ff0736598d6b4443fc04c9612c2809de00e605580f069143f394b41');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 5, 'r2', 'reserved', 100000, 0, NULL, '2026-11-23T03:40:26+00:00', 'ab6490bdc503b0c0ca4702f10c382f14178fe3b187dca052c79fa93cbaa76dc9', 'd888e4fcbfc81bcad2f36e44de7f460f09aacf98b9893e5dd6566af0b252d99e', '{"plan": "p2"}', '004cd54f757394d2e317402dd98d146175caf12bd546b89c142b34272c365137');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 6, 'r2', 'committed', 0, 0, NULL, '2026-11-23T03:40:26+00:00', 'd888e4fcbfc81bcad2f36e44de7f460f09aacf98b9893e5dd6566af0b252d99e', '49b2c0acf021a736ea013f3ac5caa0a5bb4744b800170850f31f04119fdeb972', '{"release": "2ed4cfc8a1b1cc6631d6b2bf70b00173ac9d8eb3d6626473d005c8ede9582bcc"}', '3186b5deb2df5a6c6ffd2b53fa390f5aa1bf61173d55faf0fd43d32cde717b2b');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 7, 'bad', 'reserved', 50000, 0, NULL, '2026-11-23T03:40:26+00:00', '49b2c0acf021a736ea013f3ac5caa0a5bb4744b800170850f31f04119fdeb972', '177e94791330b0267aaa038f968c995ab218f39ff34d9b4b90dab427d8602b4e', '{"plan": "bad"}', 'e5992cfe9d6f0a3f7f6d8c3efc51a3f3e7e939bbf35c072161a487a77a795bd6');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 8, 'bad', 'failed', 0, 0, NULL, '2026-11-23T03:40:26+00:00', '177e94791330b0267aaa038f968c995ab218f39ff34d9b4b90dab427d8602b4e', '1b26057ea5e249c59b16bf4ac1312cf7f5ea884f740b78e75f889a77682146b1', '{"error": "Error"}', 'ccd9468e14cd4661ac5ab914f1873b71f73b7b60f620bedd5a265ae31f5a565f');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 9, 'held', 'reserved', 20000, 0, NULL, '2026-11-23T03:40:26+00:00', '1b26057ea5e249c59b16bf4ac1312cf7f5ea884f740b78e75f889a77682146b1', 'ec92c1f8561476f1d7c56b9513c3180b0be8e371eda82e24406ad459b2f8bdb1', '{"plan": "held"}', 'd596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO ledger_lines VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 10, 'seen', 'outside', 0, 0, NULL, '2026-11-23T03:40:26+00:00', 'ec92c1f8561476f1d7c56b9513c3180b0be8e371eda82e24406ad459b2f8bdb1', '78e0fa115271c3334e185c0efc27227961b57807ec8b108aeb109fc33fd7c950', '{"evaluation": "look", "about": []}', 'd596237e491faa24607feed81b2447e471c8890686600c25db661d9e3c4f9482');
INSERT INTO ledger_lines VALUES ('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50', 0, '', 'opened', 0, 0, NULL, '2026-11-23T03:40:26+00:00', '', 'f983711bd53a07397fe8535132ca9eabe2b2cd8690bb257083f848525fba34c3', '{"account": {"dataset": "c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50", "rule": "basic", "units": 1000000000000, "threshold_units": 0, "promise": {"epsilon": "1"}, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}}}', '70c8712abbe06ad2f8dca7ba40b082c31be50daca64f3a466cba48eeeacd309b');
INSERT INTO ledger_lines VALUES ('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50', 1, 'ed9398bf1591462ab6b1adade1745aba', 'reserved', 250000000000, 0, NULL, '2026-11-23T03:40:26+00:00', 'f983711bd53a07397fe8535132ca9eabe2b2cd8690bb257083f848525fba34c3', 'c40cd31c7d39f6b622394864908d71bc4ec5dacd7bb6f8ac8edad480680903c8', '{"plan": "f4afc29fc2ae135d8625fbc27542f89510d2042fc5c7d4b4481a424bc5bfa86b", "recipe": {"kind": "histogram", "column": "age"}, "loss": {"epsilon": "1/4"}}', '9b6bb8344fb002da3bc72bfa11cebbfe1037ec2a93cae44b0e0560b75e8e1f44');
INSERT INTO ledger_lines VALUES ('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50', 2, 'ed9398bf1591462ab6b1adade1745aba', 'committed', 0, 0, NULL, '2026-11-23T03:40:27+00:00', 'c40cd31c7d39f6b622394864908d71bc4ec5dacd7bb6f8ac8edad480680903c8', 'c69bd8cce9080eed6f804eef19e9dcb833936af172b4289e86c95cdf28331c9c', '{"events": [{"mechanism": "discrete laplace", "reads": [["age"]], "rows": 1, "noise_scale": "0x1.0000000000000p+2"}], "release": "26b86be9ec3dc23851e317854ebd42f5d3a7aa5b1ea3fdf76722257da0f4103f"}', '54652e93fa3705de0ea6acad6478726819e5de872263ceeb92ed082d2482be1a');
INSERT INTO ledger_lines VALUES ('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4', 0, '', 'opened', 0, 0, NULL, '2026-11-23T03:40:27+00:00', '', '32e73b96fd8819175f8a1705f3cb6fb730b1ee5ff7fc55c2b5081b481d9ab319', '{"account": {"dataset": "638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4", "rule": "basic", "units": 1000000000000, "threshold_units": 0, "promise": {"epsilon": "1"}, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}}, "by": "ada@example.org"}', '6b462a34e917c0a59a8c9e5f063b3d43896e3719bb288521e982b6ee60c632a3');
INSERT INTO ledger_lines VALUES ('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4', 1, 'aca08b1e1ce047469a3e6b36d612ea08', 'reserved', 250000000000, 0, NULL, '2026-11-23T03:40:27+00:00', '32e73b96fd8819175f8a1705f3cb6fb730b1ee5ff7fc55c2b5081b481d9ab319', 'ba07dedb834f70941bbaabf4eb87f7d39bb79253cf724e808757a02f61e5d19f', '{"plan": "5aa5e51152894a27435339cc1ff0fbdab251479ae28c6a4603c24a9925e08db4", "recipe": {"kind": "histogram", "column": "age"}, "loss": {"epsilon": "1/4"}, "by": "ada@example.org"}', '1ea4978bd4120cb3f1dac24e7dd11b89b96047ae9a9fb443d0eb963990f40955');
INSERT INTO ledger_lines VALUES ('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4', 2, 'aca08b1e1ce047469a3e6b36d612ea08', 'committed', 0, 0, NULL, '2026-11-23T03:40:27+00:00', 'ba07dedb834f70941bbaabf4eb87f7d39bb79253cf724e808757a02f61e5d19f', 'b7386bac229666a7ba4892e234a5ab966f66e8e6fc6507c43a95907a905f647a', '{"events": [{"mechanism": "discrete laplace", "reads": [["age"]], "rows": 1, "noise_scale": "0x1.0000000000000p+2"}], "by": "ada@example.org", "release": "1df119e1aab6a73659c6b70c72d5ca425cf496c39e963ca77f054b462ead8889"}', 'cf8ded60642603bc19b07b8d8f05b44c56fc70e01b790aa5c57e7e585a7730c6');
INSERT INTO ledger_lines VALUES ('source Visits', 0, '', 'opened', 0, 0, NULL, '2026-11-23T03:40:27+00:00', '', '5dfa39fb744010165121b1a9991c08198c5322bfe5371b0ed9a8a07b215911ad', '{"account": {"dataset": "source Visits", "rule": "basic", "units": 1000000000000, "threshold_units": 0, "promise": {"epsilon": "1"}, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}}}', '3c1becc695026fee582de2f486b3961639aa2f5c5b41b3a1421c96b8bfc61577');
INSERT INTO ledger_lines VALUES ('source Visits', 1, 'abb1394d8f6c4148aed56f35f58e4808', 'reserved', 500000000000, 0, NULL, '2026-11-23T03:40:27+00:00', '5dfa39fb744010165121b1a9991c08198c5322bfe5371b0ed9a8a07b215911ad', 'a83f8dcb954d8f3ff23963dbf06529298fbd7cf2025992b72d353dd191adaa9a', '{"plan": "04fe55be85cf262225e59a8761f575a8c7fa21412e7a4467d9fac0d471d158a4", "recipe": {"kind": "histogram", "column": "age"}, "loss": {"epsilon": "1/2"}}', 'a80752b10da14176f5a59e3834c1e2a275b39e9a04e82ee82c2d50f57282a349');
INSERT INTO ledger_lines VALUES ('source Visits', 2, 'abb1394d8f6c4148aed56f35f58e4808', 'committed', 0, 0, NULL, '2026-11-23T03:40:27+00:00', 'a83f8dcb954d8f3ff23963dbf06529298fbd7cf2025992b72d353dd191adaa9a', 'ac4ae89ef8e32ab8d03b887ab2765a2a7329824406f0d611a745b9605ab42288', '{"events": [{"mechanism": "discrete laplace", "reads": [["age"]], "rows": 1, "noise_scale": "0x1.0000000000000p+1"}], "release": "d8945edd7c4f64393d328f52aa9219b08ec92f815c7307dec7bf5b0c4c40511d"}', '7dd51fd3d0045ff97e821a0b6024f808b089da3be022938a412096ef6a9c3965');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r0', 'release 0');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r1', 'release 1');
INSERT INTO ledger_releases VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'r2', 'release 2');
INSERT INTO ledger_releases VALUES ('c8f590a5719229dde1db2071b5f41fddefeb2a21b2e5303e6a9b365eaa254d50', 'ed9398bf1591462ab6b1adade1745aba', '{"version": 1, "request_id": "ed9398bf1591462ab6b1adade1745aba", "recipe": {"kind": "histogram", "column": "age"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}, "columns": [{"kind": "integer", "name": "age", "low": 0, "high": 99, "bin_width": 10}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1/4"}, "stands_on": [], "unit": "add or remove one person (one row, named by ''person'')", "from_data": {}, "models": []}, "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAAMAAAAAAAAAAQAAAAAAAACBAAAAAAAAAFMAAAAAAAAAAQAAAAAAAAChAAAAAAAAAIMAAAAAAAAAgwAAAAAAAAPC/AAAAAAAAKsA="}, "variance": 31.833852877737304, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["age"], "sizes": [10], "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAAMAAAAAAAAAAQAAAAAAAACBAAAAAAAAAFMAAAAAAAAAAQAAAAAAAAChAAAAAAAAAIMAAAAAAAAAgwAAAAAAAAPC/AAAAAAAAKsA="}, "variance": 31.833852877737304, "noise": "laplace", "pooled": false}]}, "created": "2026-11-23T03:40:27+00:00", "part": null, "digest": "4d448994a9802e90a5b297712d8f7e77ceb72881d8b89e8a4344f85057b58364"}');
INSERT INTO ledger_releases VALUES ('638294ebb6f3602b6fe43cc7ab3404bd1c67fc4efb3fd95561ea8f18db8a88b4', 'aca08b1e1ce047469a3e6b36d612ea08', '{"version": 1, "request_id": "aca08b1e1ce047469a3e6b36d612ea08", "recipe": {"kind": "histogram", "column": "age"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}, "columns": [{"kind": "integer", "name": "age", "low": 0, "high": 99, "bin_width": 10}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1/4"}, "stands_on": [], "unit": "add or remove one person (one row, named by ''person'')", "from_data": {}, "models": []}, "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAACEAAAAAAAAAmQAAAAAAAACrAAAAAAAAAAEAAAAAAAAAQwAAAAAAAABTAAAAAAAAA8D8AAAAAAAAgQAAAAAAAABhAAAAAAAAAIMA="}, "variance": 31.833852877737304, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["age"], "sizes": [10], "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAACEAAAAAAAAAmQAAAAAAAACrAAAAAAAAAAEAAAAAAAAAQwAAAAAAAABTAAAAAAAAA8D8AAAAAAAAgQAAAAAAAABhAAAAAAAAAIMA="}, "variance": 31.833852877737304, "noise": "laplace", "pooled": false}]}, "created": "2026-11-23T03:40:27+00:00", "part": null, "digest": "4a2e73d691446d6ee1bf5aa8347d44855c452eaec1e38352e8b454cd18a87639"}');
INSERT INTO ledger_releases VALUES ('source Visits', 'abb1394d8f6c4148aed56f35f58e4808', '{"version": 1, "request_id": "abb1394d8f6c4148aed56f35f58e4808", "recipe": {"kind": "histogram", "column": "age"}, "schema": {"version": 1, "unit": {"max_rows": 1, "id_column": "person", "neighbours": "add or remove"}, "columns": [{"kind": "integer", "name": "age", "low": 0, "high": 99, "bin_width": 10}]}, "guarantee": {"kind": "differential privacy", "loss": {"epsilon": "1/2"}, "stands_on": [], "unit": "add or remove one person (one row, named by ''person'')", "from_data": {}, "models": []}, "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAAAAAAAAAAADwPwAAAAAAAABAAAAAAAAA8L8AAAAAAADwvwAAAAAAAAAAAAAAAAAA8L8AAAAAAAAQQAAAAAAAAPA/AAAAAAAACMA="}, "variance": 7.835396178065528, "noise": "laplace", "pooled": false}], "model": {"kind": "chain", "names": ["age"], "sizes": [10], "marginals": [{"clique": ["age"], "values": {"dtype": "<f8", "shape": [10], "data": "AAAAAAAAAAAAAAAAAADwPwAAAAAAAABAAAAAAAAA8L8AAAAAAADwvwAAAAAAAAAAAAAAAAAA8L8AAAAAAAAQQAAAAAAAAPA/AAAAAAAACMA="}, "variance": 7.835396178065528, "noise": "laplace", "pooled": false}]}, "created": "2026-11-23T03:40:27+00:00", "part": null, "digest": "6b7bb46406cb5978609922182be5371ae0ab577af3e3b7eac52b34d0641abce1"}');
INSERT INTO ledger_running VALUES ('dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 'held', 'bf1b6f7365984d1aac3cbc31739df98f');
INSERT INTO workbench VALUES (4, '30f45a3dfbcdab04b85c31170ca52a0dfabb90ad941f5aa5d3da143872dc6119', 'bede0e5126b19e85e1c31a64adb472dd5c3106b18a115f68a5354f22a7e0d3b5');
ALTER TABLE ONLY data_set_owners
    ADD CONSTRAINT data_set_owners_pkey PRIMARY KEY (dataset);
ALTER TABLE ONLY data_set_viewers
    ADD CONSTRAINT data_set_viewers_pkey PRIMARY KEY (dataset, person);
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
ALTER TABLE ONLY shares
    ADD CONSTRAINT shares_digest_key UNIQUE (digest);
ALTER TABLE ONLY shares
    ADD CONSTRAINT shares_pkey PRIMARY KEY (id);
ALTER TABLE ONLY survey_invitations
    ADD CONSTRAINT survey_invitations_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY survey_reports
    ADD CONSTRAINT survey_reports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY surveys
    ADD CONSTRAINT surveys_key_digest_key UNIQUE (key_digest);
ALTER TABLE ONLY surveys
    ADD CONSTRAINT surveys_pkey PRIMARY KEY (id);
CREATE INDEX ix_data_set_owners_steward ON data_set_owners USING btree (steward);
CREATE INDEX ix_shares_dataset ON shares USING btree (dataset);
CREATE INDEX ix_survey_invitations_survey ON survey_invitations USING btree (survey);
CREATE INDEX ix_survey_reports_survey ON survey_reports USING btree (survey);
CREATE UNIQUE INDEX ledger_lines_one_end ON ledger_lines USING btree (dataset, request_id) WHERE (state = ANY (ARRAY['committed'::text, 'failed'::text]));
ALTER TABLE ONLY data_set_viewers
    ADD CONSTRAINT data_set_viewers_dataset_fkey FOREIGN KEY (dataset) REFERENCES data_set_owners(dataset);
ALTER TABLE ONLY ledger_lines
    ADD CONSTRAINT ledger_lines_dataset_fkey FOREIGN KEY (dataset) REFERENCES ledger_accounts(dataset);
ALTER TABLE ONLY ledger_releases
    ADD CONSTRAINT ledger_releases_dataset_fkey FOREIGN KEY (dataset) REFERENCES ledger_accounts(dataset);
ALTER TABLE ONLY survey_invitations
    ADD CONSTRAINT survey_invitations_survey_fkey FOREIGN KEY (survey) REFERENCES surveys(id);
ALTER TABLE ONLY survey_reports
    ADD CONSTRAINT survey_reports_survey_fkey FOREIGN KEY (survey) REFERENCES surveys(id);
