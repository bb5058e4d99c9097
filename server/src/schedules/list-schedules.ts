import type { Resource, Schedule } from '@crossward/connector-kit';
import type { Static, TObject } from 'typebox';
import type { Access, EndpointDeps } from '../api/endpoint.ts';
import { type Page, page } from '../api/paging.ts';
import { readRange, type TimeRange } from '../api/request-times.ts';
import { inQuery } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import type { scheduleQuery } from './contract.ts';

const places = { start: inQuery('start'), end: inQuery('end') };
/** Finding the occurrences in a range takes time in proportion to its length. */
const longestRangeHours = 366 * 24;

type Query = Static<TObject<typeof scheduleQuery>>;

export function pageOfSchedules(
  { client, ehr, careUnit, cursors }: Access & Pick<EndpointDeps, 'cursors'>,
  resource: Resource,
  query: Query,
): Promise<Page<Schedule>> {
  const range = rangeOf(query, careUnit.timeZone);
  const filters = [ehr.id, careUnit.id, resource.id, range ?? null];
  return page<Schedule>(
    cursors,
    query,
    { clientId: client.id, operationId: 'list_schedules', filters },
    ({ id }) => [id],
    (after, limit) =>
      ehr.call('listSchedules', {
        careUnit,
        resourceId: resource.id,
        range,
        after: after && String(after[0]),
        limit,
      }),
  );
}

function rangeOf({ start, end }: Query, timeZone: string): TimeRange | undefined {
  if (start !== undefined && end !== undefined) return readRange({ start, end }, places, timeZone, longestRangeHours);
  if (start === undefined && end === undefined) return undefined;
  const missing = start === undefined ? 'start' : 'end';
  throw problemAt(inQuery(missing), 'request_invalid', '`start` and `end` must be sent together.');
}
