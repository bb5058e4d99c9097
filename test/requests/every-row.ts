import type { Gateway } from '../gateway/gateway.ts';
import { rowsOf } from './codes.ts';

/** Every row of the gateway's tables as text. The sandbox is the EHR. */
export async function everyRow(gateway: Gateway): Promise<string[]> {
  const tables = await rowsOf<{ schema: string; table: string }>(
    gateway,
    `SELECT table_schema AS schema, table_name AS table FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema', 'sandbox')`,
  );
  const rows = await Promise.all(
    tables.map(async ({ schema, table }) =>
      (await rowsOf<{ row: string }>(gateway, `SELECT it::text AS row FROM "${schema}"."${table}" it`)).map(
        ({ row }) => `${schema}.${table} ${row}`,
      ),
    ),
  );
  return rows.flat();
}
