import type { ConfiguredAccess } from '../config/configuration.ts';
import { demoAccess, demoConfigurationPath, demoWebhooks } from '../config/file/demo.ts';
import { type LoadedAccess, loadAccess } from '../config/file/load.ts';
import type { Db } from '../db/kysely.ts';
import { connectors } from '../ehr/connectors.ts';
import { readStoredNames } from '../ehr/stored/stored-emrs.ts';

/**
 * What the configuration of `--config`, otherwise of `CROSSWARD_CONFIG`, otherwise of the demo says about clients. No secret
 * need be set.
 */
export async function configuredAccess(config: string | undefined): Promise<LoadedAccess> {
  const path = config ?? (process.env.CROSSWARD_CONFIG || undefined);
  const access = await loadAccess({ path: path ?? demoConfigurationPath, connectors, environment: process.env });
  return path === undefined
    ? { ...access, clients: [demoAccess(access)], webhooks: demoWebhooks, consoleUrl: demoUrl() }
    : access;
}

function demoUrl(): string {
  return `http://localhost:${process.env.PORT || 8080}`;
}

/** With the stored EHRs that are open, which can be granted too. */
export async function withStoredAccess<Access extends ConfiguredAccess>(db: Db, access: Access): Promise<Access> {
  return { ...access, emrs: [...access.emrs, ...(await readStoredNames(db))] };
}
