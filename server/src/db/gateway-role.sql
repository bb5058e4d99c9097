-- Rights for a role that runs the gateway and owns nothing: it cannot change or delete entries of the audit trail. Create the role
-- crossward_gateway first. Run this as the owner of the database, after a gateway has migrated it as the owner, and after each
-- upgrade. It can be run again.
DO $$
DECLARE
  place text;
  function regprocedure;
BEGIN
  -- The schemas of the gateway, its queue and its connectors.
  FOR place IN
    SELECT nspname FROM pg_namespace
    WHERE nspname = current_schema() OR (nspowner = current_user::regrole AND nspname !~ '^(pg_|information_schema$)')
  LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO crossward_gateway', place);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO crossward_gateway', place);
    EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO crossward_gateway', place);
    -- Not those of extensions: everybody may call them, and PostgreSQL would warn for each.
    FOR function IN
      SELECT oid FROM pg_proc AS known
      WHERE pronamespace = place::regnamespace AND prokind = 'f'
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = known.oid AND deptype = 'e')
    LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO crossward_gateway', function);
    END LOOP;
  END LOOP;
END
$$;
REVOKE INSERT, UPDATE, DELETE ON schema_migrations, audit_retention, audit_entries, audit_links FROM crossward_gateway;
DO $$
DECLARE
  part regclass;
BEGIN
  -- Their rows are reached through audit_entries.
  FOR part IN SELECT relid FROM pg_partition_tree('audit_entries') WHERE isleaf LOOP
    EXECUTE format('REVOKE ALL ON %s FROM crossward_gateway', part);
  END LOOP;
END
$$;
REVOKE INSERT, UPDATE, DELETE ON audit_months FROM crossward_gateway;
REVOKE UPDATE, DELETE ON audit_drafts FROM crossward_gateway;
REVOKE DELETE ON audit_chains FROM crossward_gateway;
-- A key that is overwritten hides every access under it. After a change of the secret key, the owner encrypts them again.
REVOKE UPDATE, DELETE ON audit_keys FROM crossward_gateway;
REVOKE INSERT, UPDATE, DELETE ON audit_export_positions FROM crossward_gateway;
-- A sign-in is recorded before it is checked. Linked rows are protected by a trigger.
REVOKE UPDATE ON operator_activity FROM crossward_gateway;
GRANT UPDATE (outcome) ON operator_activity TO crossward_gateway;
