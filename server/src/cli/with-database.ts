import { createDb, type Db } from '../db/kysely.ts';
import { openGatewayDatabase } from './open-emr.ts';

/** Runs it on the gateway's database, and closes that. */
export async function withDatabase<Result>(run: (db: Db) => Promise<Result>): Promise<Result> {
  const database = await openGatewayDatabase();
  try {
    return await run(createDb(database));
  } finally {
    await database.close();
  }
}
