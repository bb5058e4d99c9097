import { ConnectorError } from '@crossward/connector-kit';
import { isDatabaseFailure } from '../../db/errors.ts';

/** Whether a connector that keeps its records in the gateway's database was failed by that, not by an EHR. */
export function isOfDatabase(error: unknown): boolean {
  return isDatabaseFailure(error instanceof ConnectorError ? error.cause : error);
}
