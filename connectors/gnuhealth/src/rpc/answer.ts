import { ConnectorError } from '@crossward/connector-kit';

/** The server's answer to a write: done, or rejected by an exception of this class, and rolled back. */
export type Answer = { readonly result: unknown } | { readonly exception: Exception };

/** The exceptions that Tryton names in its answers. It does not name the class of any other, such as a mistake in a module. */
const namedExceptions = ['ConcurrencyException', 'UserError', 'UserWarning', 'LoginException'] as const;
export type Exception = (typeof namedExceptions)[number] | 'DatabaseOperationalError' | 'an unexpected exception';

/** The id of the one record that was created. @throws ConnectorError `rejected` if the server has refused it */
export function createdId(answer: Answer, what: string): number {
  if ('exception' in answer) throw new ConnectorError('rejected', `The EHR rejected ${what} with ${answer.exception}`);
  return Number(Array.isArray(answer.result) ? answer.result[0] : undefined);
}

/** `undefined`: not an answer of this interface. */
export function readAnswer(text: string): Answer | undefined {
  try {
    const answer = JSON.parse(text) as { result?: unknown; error?: unknown };
    if ('result' in answer) return { result: answer.result };
    return Array.isArray(answer.error) ? { exception: exceptionOf(answer.error[0]) } : undefined;
  } catch {
    return undefined;
  }
}

/** An exception without a name has its message in its place, which may contain anything. */
function exceptionOf(name: unknown): Exception {
  const known = namedExceptions.find((it) => it === name);
  if (known) return known;
  // PostgreSQL's words, after Tryton has repeated the transaction five times.
  const isRace = typeof name === 'string' && /^(could not serialize access|deadlock detected)/.test(name);
  return isRace ? 'DatabaseOperationalError' : 'an unexpected exception';
}
