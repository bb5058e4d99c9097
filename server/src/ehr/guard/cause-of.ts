import { ConnectorError } from '@crossward/connector-kit';
import { plainText } from '../../identifiers/index.ts';
import { connectionFault } from '../../log/connection-fault.ts';
import { isOfDatabase } from './of-database.ts';

/**
 * Why a call to an EHR failed, in words for operators: `connection refused by 127.0.0.1:8095`. Contains no personal data.
 * Callers never get it, because it names hosts.
 */
export function causeOf(error: unknown): string {
  const fault = connectionFault(error);
  if (fault) return fault.text;
  if (isOfDatabase(error)) return "the gateway's database failed";
  // The message of another error can contain a value.
  if (!(error instanceof ConnectorError)) return 'the connector has a bug: see the log';
  const message = plainText(error.message);
  return message.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}
