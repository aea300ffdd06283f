-- A database of schema version 3, as a start leaves it that is killed between two migrations: three revisions, an object that was deleted
-- and created again, a secret that lives, one that ends and one that is revoked,
-- and four audit records in two blocks.
INSERT INTO revisions (number, at, actor, summary, changes) VALUES
    (1, 1767225600000001, 'token:1a2b', 'created two', '[{"kind":"Key","name":"ci","after":{"team":"a"}},{"kind":"Route","name":"chat","after":{"v":1}}]'),
    (2, 1767225600000002, 'file:interlock.yaml', 'changed one, deleted one', '[{"kind":"Key","name":"ci","before":{"team":"a"}},{"kind":"Route","name":"chat","before":{"v":1},"after":{"v":2}}]'),
    (3, 1767225600000003, 'token:1a2b', 'created again', '[{"kind":"Key","name":"ci","after":{"team":"b"}}]');

INSERT INTO documents (kind, name, name_key, id, version, owner, source, spec, created_at, updated_at, from_rev, to_rev) VALUES
    ('Key', 'ci', 'ci', 'key-1', 1, 'api', '', '{"team":"a"}', 1767225600000001, 1767225600000001, 1, 2),
    ('Route', 'chat', 'chat', '', 1, 'api', '', '{"v":1}', 1767225600000001, 1767225600000001, 1, 2),
    ('Route', 'chat', 'chat', '', 2, 'file', 'interlock.yaml:7', '{"v":2}', 1767225600000001, 1767225600000002, 2, NULL),
    ('Key', 'ci', 'ci', 'key-2', 1, 'api', '', '{"team":"b"}', 1767225600000003, 1767225600000003, 3, NULL);

INSERT INTO key_secrets (hash, key_id, last4, created_at, ends_at, revoked_at) VALUES
    ('0000000000000000000000000000000000000000000000000000000000000001', 'key-1', 'aaaa', 1767225600000001, NULL, 1767225600000002),
    ('0000000000000000000000000000000000000000000000000000000000000002', 'key-2', 'bbbb', 1767225600000003, NULL, NULL),
    ('0000000000000000000000000000000000000000000000000000000000000003', 'key-2', 'cccc', 1767225600000002, 1767225600000009, NULL);

UPDATE audit_head SET seq = 514;
INSERT INTO audit_imports (spool, segment, place) VALUES ('spool', 3, 99);

INSERT INTO audit (seq, time, request_id, kind, outcome, code, status, key, team, model, route, provider, data) VALUES
    (510, 1767225600000010, 'r-1', 'request', 'allow', '', 200, 'ci', 'a', 'm', 'chat', 'p', '{}'),
    (511, 1767225600000011, 'r-2', 'request', 'error', 'provider_failed', 502, 'ci', 'a', 'm', 'chat', 'p', '{}'),
    (512, 1767225600000012, 'r-3', 'request', 'allow', '', 200, 'ci', 'a', 'm', 'chat', 'q', '{}'),
    (514, 1767225600000013, '', 'admin', '', '', 0, '', '', '', '', '', '{}');

INSERT INTO audit_blocks (block, min_time, max_time) VALUES (0, 1767225600000010, 1767225600000011), (1, 1767225600000012, 1767225600000013);

INSERT INTO audit_terms (field, value, block, first_seq, last_seq) VALUES
    ('outcome', 'error', 0, 511, 511), ('code', 'provider_failed', 0, 511, 511),
    ('team', 'a', 0, 510, 511), ('model', 'm', 0, 510, 511), ('route', 'chat', 0, 510, 511), ('provider', 'p', 0, 510, 511),
    ('team', 'a', 1, 512, 512), ('model', 'm', 1, 512, 512),
    ('route', 'chat', 1, 512, 512), ('provider', 'q', 1, 512, 512), ('kind', 'admin', 1, 514, 514);
