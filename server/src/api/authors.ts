import type { Resource } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { requireResource } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inBody } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import { resourceIdentifier } from './identifiers.ts';

/**
 * Looks up `author_id` of the body. Only a practitioner can be an author.
 *
 * @throws Problem `resource_not_found` (400), `author_not_practitioner`, or what is wrong with the identifier
 */
export async function requireAuthor(
  { ehr, careUnit }: { readonly ehr: EhrConnection; readonly careUnit: CareUnitConnection },
  text: string,
  readHeader: ReadHeader,
): Promise<Resource> {
  const place = inBody('author_id');
  const author = await requireResource(ehr, careUnit, resourceIdentifier(text, place, ehr, readHeader), place);
  if (author.kind !== 'practitioner') {
    throw problemAt(place, 'author_not_practitioner', 'Only a practitioner can be an author.');
  }
  return author;
}
