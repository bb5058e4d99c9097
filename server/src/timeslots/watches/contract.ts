import Type, { type Static } from 'typebox';
import { nextCursor } from '../../api/paging.ts';
import { dateTime, nullableString, reference, text } from '../../api/schemas.ts';
import { timeslotSearchBody } from '../search-contract.ts';

/** To make and end watches. A watch whose client has lost it looks no more. */
export const watchScope = 'appointments:write';

/** A search without what belongs to one response. */
export const watchedSearch = Type.Object(
  Type.Omit(timeslotSearchBody, ['per_care_unit', 'max_age_seconds', 'wait_ms', 'limit', 'cursor']).properties,
  {
    $id: 'WatchedSearch',
    description: 'As in `POST /api/timeslots/search`. The first 500 slots count.',
    additionalProperties: false,
  },
);

const referenceText =
  "The client's own, for example the id of an entry of a waiting list. The gateway keeps it encrypted.";

export const watchCreationSchema = Type.Object(
  {
    search: reference<Static<typeof watchedSearch>>('WatchedSearch'),
    reference: Type.Optional(text({ minLength: 1, maxLength: 200, description: referenceText })),
    until: dateTime(
      'When it ends, if not with the range of the search. At most 92 days from now. Without an offset: UTC.',
    ),
  },
  { $id: 'TimeslotWatchCreation', additionalProperties: false },
);

const instant = { format: 'date-time' };
export const watchSchema = Type.Object(
  {
    id: Type.String(),
    reference: nullableString({ description: referenceText }),
    search: Type.Union([reference<Static<typeof watchedSearch>>('WatchedSearch'), Type.Null()], {
      description:
        'Null: the gateway lacks the key under which it keeps this watch, and does not look. The watch does not count. Create it again.',
    }),
    until: Type.String({ ...instant, description: 'When it ends and is deleted.' }),
    created_at: Type.String(instant),
    looked_at: nullableString({
      ...instant,
      description: 'When the gateway last looked. Null until the first look, which notes what is free already.',
    }),
    found_at: nullableString({ ...instant, description: 'When it last found a time that was not there before.' }),
  },
  { $id: 'TimeslotWatch', description: 'A search that the gateway repeats, to tell of times that become free.' },
);
export type WatchBody = Static<typeof watchSchema>;

export const watchListSchema = Type.Object({
  watches: Type.Array(reference<WatchBody>('TimeslotWatch')),
  next_cursor: nextCursor,
});
