import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { ChildRequest, ChildSetup } from '../processes/child-gateway.ts';

/** A write that the gateway answered before the dump. */
export interface AnsweredWrite {
  /** With the key. */
  readonly request: ChildRequest;
  readonly status: number;
  readonly body: { readonly id: string };
}

/** What the clients of a gateway knew when its database was dumped. */
export interface KnownFacts {
  readonly secret_key: string;
  /** A client of the configuration. */
  readonly client: ChildSetup['client'];
  /** A client of the database. */
  readonly stored_client: ChildSetup['client'];
  readonly booking: AnsweredWrite;
  readonly cancellation: AnsweredWrite;
  /** Booked with a code that the patient entered. */
  readonly confirmation: AnsweredWrite;
  /** Waits for a code that the patient has got. */
  readonly awaiting: AnsweredWrite & { readonly code: string };
  /** The EHR made it, its answer was lost, and the gateway was killed before it looked. */
  readonly unfinished: ChildRequest;
  readonly webhook_endpoint: { readonly id: string; readonly secret: string };
}

const fileOf = (version: string, name: string) => new URL(`${version}/${name}`, import.meta.url);

export const dumpPath = (version: string) => fileURLToPath(fileOf(version, 'dump.sql'));
export const factsPath = (version: string) => fileURLToPath(fileOf(version, 'facts.json'));

export async function readFacts(version: string): Promise<KnownFacts> {
  return JSON.parse(await readFile(factsPath(version), 'utf8'));
}

/** The configuration of the gateway whose database was dumped, and its secrets. */
export function setupOf(
  version: string,
  { client, secret_key }: Pick<KnownFacts, 'client' | 'secret_key'>,
): ChildSetup {
  return {
    client,
    variables: {
      CROSSWARD_CONFIG: fileURLToPath(fileOf(version, 'crossward.yaml')),
      CROSSWARD_SECRET_KEY: secret_key,
      BOOKING_APP_SECRET: client.secret,
    },
  };
}

/** Tables of what ends after an hour, a day or a month. The audit trail is not among them: its times are part of what it proves. */
const shortLived = [
  'events',
  'operations',
  'confirmations',
  'confirmation_items',
  'messages',
  'demo_mailbox',
  'webhook_deliveries',
];

/**
 * Restores the dump of a version into an empty database, as if it had been made now: events are kept for a month, stored
 * responses for a day, codes and held times for an hour.
 *
 * @param url of the database, for a superuser
 */
export async function restoreDump(version: string, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(await readFile(dumpPath(version), 'utf8'));
    await client.query(`
      BEGIN;
      SET LOCAL session_replication_role = replica;
      DO $$
      DECLARE
        update_all text;
        age interval := now() - (SELECT max(created_at) FROM public.operations);
      BEGIN
        FOR update_all IN
          SELECT format('UPDATE %I.%I SET %I = %3$I + $1', table_schema, table_name, column_name)
          FROM information_schema.columns
          WHERE data_type = 'timestamp with time zone'
            AND (table_schema = 'public' AND table_name IN (${shortLived.map((name) => `'${name}'`).join(', ')})
              OR table_schema = 'sandbox' AND column_name = 'held_until')
        LOOP
          EXECUTE update_all USING age;
        END LOOP;
      END $$;
      COMMIT;`);
  } finally {
    await client.end();
  }
}
