import type { Static } from 'typebox';
import { type EndpointGroup, endpoint } from '../../api/endpoint.ts';
import { page, pagingQuery } from '../../api/paging.ts';
import { identifierReasons } from '../../api/route-reasons.ts';
import { reference, text } from '../../api/schemas.ts';
import { inBody, inPath } from '../../problems/places.ts';
import { Problem, problemAt } from '../../problems/problem.ts';
import { toInstant } from '../../time/date-times.ts';
import { longestRangeHours } from '../contract.ts';
import { unitsOf } from '../search-units.ts';
import {
  type WatchBody,
  watchCreationSchema,
  watchedSearch,
  watchListSchema,
  watchSchema,
  watchScope,
} from './contract.ts';
import { deleteWatch, findWatch, insertWatch, listWatches, mostWatches, type Watch } from './store.ts';

const example: WatchBody = {
  id: '0d6f1a52-6e0e-4a53-9d0a-7a3a4a4f2f10',
  reference: 'waiting-list-17',
  search: { start: '2027-03-19T08:00:00', end: '2027-04-19T00:00:00', time_of_day: { end: '12:00' } },
  until: '2027-03-31T22:00:00.000Z',
  created_at: '2027-03-18T14:02:11.000Z',
  looked_at: null,
  found_at: null,
};
const path = '/watches/:watch_id';
const params = { watch_id: text({ description: 'Id of the watch.' }) };
const shared = {
  tag: 'Time slots',
  level: 'client',
  audit: 'none',
} as const;
const reading = { ...shared, scopes: ['appointments:read', 'resources:read'] } as const;
const writing = { ...shared, scopes: [watchScope] } as const;

function bodyOf({ id, reference, search, endsAt, createdAt, lookedAt, foundAt }: Watch): WatchBody {
  return {
    id,
    reference,
    search,
    until: endsAt.toISOString(),
    created_at: createdAt.toISOString(),
    looked_at: lookedAt?.toISOString() ?? null,
    found_at: foundAt?.toISOString() ?? null,
  };
}

const notFound = () => problemAt(inPath('watch_id'), 'watch_not_found', 'The client has no watch with this id.');

const listTimeslotWatches = endpoint({
  ...reading,
  operationId: 'list_timeslot_watches',
  summary: 'List watches for time slots',
  method: 'GET',
  path: '/watches',
  query: pagingQuery,
  response: {
    status: 200,
    description: 'The watches of the client that have not ended, sorted by id.',
    schema: watchListSchema,
  },
  reasons: ['cursor_invalid'],
  examples: { response: { watches: [example], next_cursor: null } },
  async handle({ client, query, cursors, services: { db, keys } }) {
    const binding = { clientId: client.id, operationId: 'list_timeslot_watches', filters: [] };
    const { entries, next_cursor } = await page(
      cursors,
      query,
      binding,
      ({ id }: Watch) => [id],
      (after, limit) => listWatches(db, keys, client.id, after && String(after[0]), limit),
    );
    return { body: { watches: entries.map(bodyOf), next_cursor } };
  },
});

const createTimeslotWatch = endpoint({
  ...writing,
  operationId: 'create_timeslot_watch',
  summary: 'Create a watch for time slots',
  description:
    'Repeats a search until the watch ends. When a time appears that was not there before, the client gets an event ' +
    '`timeslot.found`, at most one a minute. EHRs are asked only if they have nothing else to do.',
  method: 'POST',
  path: '/watches',
  body: reference<Static<typeof watchCreationSchema>>('TimeslotWatchCreation'),
  response: { status: 201, description: 'The watch.', schema: watchSchema },
  reasons: [
    'watch_limit_reached',
    'time_range_invalid',
    'local_time_nonexistent',
    'emr_not_found',
    'care_unit_not_found',
    ...identifierReasons,
  ],
  reasonsOfNames: ['healthcare_service_not_found'],
  examples: {
    body: { reference: 'waiting-list-17', search: example.search, until: '2027-04-01T00:00:00+02:00' },
    response: example,
  },
  async store(tx, { client, services: { keys, ehrs }, sameServices, body }) {
    const { search, reference = null, until } = body;
    // Of later requests, nobody knows the headers.
    const units = unitsOf({
      client,
      ehrs,
      sameServices,
      readHeader: () => undefined,
      body: search,
      inSearch: (part) => inBody(`search/${part}`),
    });
    const latest = Math.max(...units.map(({ end }) => end.getTime()));
    const ends = toInstant(until, 'UTC').getTime();
    const longest = longestRangeHours * 60 * 60 * 1000;
    if (!(ends > Date.now() && ends <= Date.now() + longest))
      throw problemAt(
        inBody('until'),
        'time_range_invalid',
        'The time must be in the future, at most 92 days from now.',
      );
    if (latest <= Date.now())
      throw problemAt(inBody('search/end'), 'time_range_invalid', 'The range must not be in the past.');
    const watch = await insertWatch(tx, keys, {
      clientId: client.id,
      search,
      reference,
      endsAt: new Date(Math.min(ends, latest)),
    });
    if (!watch) throw new Problem('watch_limit_reached', { detail: `The client has ${mostWatches} watches.` });
    return { body: bodyOf(watch), headers: { location: `/api/watches/${watch.id}` } };
  },
});

const getTimeslotWatch = endpoint({
  ...reading,
  operationId: 'get_timeslot_watch',
  summary: 'Get a watch for time slots',
  method: 'GET',
  path,
  params,
  response: { status: 200, description: 'The watch.', schema: watchSchema },
  reasons: ['watch_not_found'],
  examples: { params: { watch_id: example.id }, response: example },
  async handle({ client, params: { watch_id }, services: { db, keys } }) {
    const watch = await findWatch(db, keys, client.id, watch_id);
    if (!watch) throw notFound();
    return { body: bodyOf(watch) };
  },
});

const deleteTimeslotWatch = endpoint({
  ...writing,
  operationId: 'delete_timeslot_watch',
  summary: 'End a watch for time slots',
  method: 'DELETE',
  path,
  params,
  response: { status: 204, description: 'The watch is deleted.', schema: watchSchema },
  reasons: ['watch_not_found'],
  examples: { params: { watch_id: example.id }, response: undefined },
  async store(tx, { client, params: { watch_id } }) {
    if (!(await deleteWatch(tx, client.id, watch_id))) throw notFound();
    return { body: {} };
  },
});

export const watchEndpoints: EndpointGroup = {
  schemas: [watchedSearch, watchCreationSchema, watchSchema],
  endpoints: [listTimeslotWatches, createTimeslotWatch, getTimeslotWatch, deleteTimeslotWatch],
};
