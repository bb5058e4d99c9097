import type { ConfiguredEmr } from '../config/configuration.ts';
import { describeError } from '../log/describe-error.ts';
import { ConfigurationError } from '../startup/configuration-error.ts';

/** A bug of a connector that shows when it is opened. Its message is left out, because it can contain a value. */
export function openingMistake({ id, connector }: ConfiguredEmr, error: unknown): ConfigurationError {
  if (error instanceof ConfigurationError) {
    return new ConfigurationError(error.mistakes.map((text) => `EHR ${id}: ${text}`));
  }
  const { type = 'nothing', stack = [] } = describeError(error) ?? {};
  const place = stack[0] === undefined ? '' : ` ${stack[0]}`;
  const text = `EHR ${id}: the connector ${connector} threw ${type}${place} when it was opened. The message is not shown, because it can contain personal data.`;
  return new ConfigurationError([text], { cause: error });
}
