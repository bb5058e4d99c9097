import type { EhrConnection } from '../ehr/connection.ts';
import { inBody } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';

/**
 * The comment of a request. `undefined`: none was sent. `null`: it is to be cleared.
 *
 * @throws Problem `request_invalid` if the EHR takes no comment of this length
 */
export function readComment({ capabilities }: EhrConnection, sent: string | undefined): string | null | undefined {
  const { commentLength = Number.POSITIVE_INFINITY } = capabilities;
  if (sent !== undefined && sent.length > commentLength) {
    const detail = `/comment is too long: this EHR takes up to ${commentLength} characters.`;
    throw problemAt(inBody('comment'), 'request_invalid', detail);
  }
  return sent === undefined ? undefined : sent || null;
}
