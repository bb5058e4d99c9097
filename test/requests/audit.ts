import { readAuditKeys } from '../../server/src/audit/audit-keys.ts';
import { type AuditVerdict, verifyChains } from '../../server/src/audit/verify.ts';
import type { Database } from '../../server/src/db/database.ts';
import { createDb } from '../../server/src/db/kysely.ts';
import { createKeyRing } from '../../server/src/secrets/key-ring.ts';
import type { ChildSetup } from '../processes/child-gateway.ts';

/** Verifies the audit trail of gateways that were started with this configuration. */
export async function verifyAudit(database: Database, { variables }: ChildSetup): Promise<AuditVerdict[]> {
  const db = createDb(database);
  const keys = await readAuditKeys(db, createKeyRing([Buffer.from(variables.CROSSWARD_SECRET_KEY ?? '', 'base64')]));
  const found: AuditVerdict[] = [];
  for await (const verdict of verifyChains(db, keys)) found.push(verdict);
  return found;
}
