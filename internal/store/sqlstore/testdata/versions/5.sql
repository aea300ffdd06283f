-- A database of schema version 5: three revisions, an object that was deleted
-- and created again, a secret that lives, one that ends and one that is revoked,
-- and four audit records in two packs.
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

INSERT INTO audit_packs (seq, min_time, max_time, cols, data) VALUES
    (510, 1767225600000010, 1767225600000011, X'28B52FFD0400A90300010202021703FE030009948082E288D2A30602049003EC07049161A89F0403020302090107726571756573740F0205616C6C6F77056572726F7200011402000F70726F76696465725F6661696C656400010401026369030101610301016D06010463686174030101700B0203722D3103722D320001E6699D0F', X'28B52FFD0400510000722D317B7D722D327B7D4A459B72'),
    (512, 1767225600000012, 1767225600000013, X'28B52FFD0400810300010202021402000109988082E288D2A306020390030004FB9CF1230403020002110207726571756573740561646D696E00010A0205616C6C6F770000010201000702026369000001060201610000010602016D0000010902046368617400000106020171000001080203722D3300000115BEB754', X'28B52FFD0400390000722D337B7D7B7D550B183B');

INSERT INTO console_sessions (hash, name, via, role, stamp, created_at, seen_at) VALUES
    ('0000000000000000000000000000000000000000000000000000000000000009', 'anna', 'password', '', 'stamp', 1767225600000001, 1767225600000009);
