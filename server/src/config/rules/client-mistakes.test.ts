import { expect, test } from 'vitest';
import { formatPath } from '../mistakes/mistake.ts';
import type { ClientFacts, Scope } from '../schema/schema.ts';
import { clientMistakes } from './client-mistakes.ts';

const emrs = ['north', 'south'].map((id) => ({
  id,
  name: id,
  care_units: [
    { id: 'ward-1', name: 'Ward 1' },
    { id: 'ward-2', name: 'Ward 2' },
  ],
}));
const right: ClientFacts = {
  id: 'Booking.site_1',
  name: 'Booking site',
  scopes: ['appointments:read'],
  grants: [{ emr: 'north' }, { emr: 'south', care_units: ['ward-2'] }],
  return_urls: ['https://booking.example.org/done'],
};

const mistakesIn = (facts: Partial<ClientFacts>) =>
  clientMistakes(facts, { emrs }).map(({ path, text }) => `${formatPath(path)}: ${text}`);

test('a valid client, or a part of one, has no mistakes', () => {
  expect(mistakesIn(right)).toEqual([]);
  expect(mistakesIn({ name: 'Site' })).toEqual([]);
});

test.each<[Partial<ClientFacts>, string]>([
  [{ id: 'a site' }, 'id: must be 1 to 63 letters, digits, dots, hyphens and underscores'],
  [{ name: '' }, 'name: must not be empty'],
  [{ scopes: [] }, 'scopes: must have at least one entry'],
  [
    { scopes: ['appointments:reed' as Scope] },
    'scopes[0]: "appointments:reed" is unknown; must be one of appointments:',
  ],
  ...[
    ['appointments:reed', 'appointments:read'],
    ['read:patients', 'patients:read'],
    ['webhooks:read', 'webhooks:manage'],
  ].map(([typed = '', meant]): [Partial<ClientFacts>, string] => [
    { scopes: [typed as Scope] },
    `webhooks:manage; did you mean "${meant}"?`,
  ]),
  [{ scopes: ['notes:read', 'notes:read'] }, 'scopes[1]: is repeated in the list'],
  [{ grants: [] }, 'grants: must have at least one entry'],
  [{ grants: [{ emr: 'west' }] }, 'grants[0].emr: "west" is not an EHR of the configuration, which has north, south'],
  [{ grants: [{ emr: 'nort' }] }, 'which has north, south; did you mean "north"?'],
  [
    { grants: [{ emr: 'north', care_units: ['ward-1', 'ward-3'] }] },
    'grants[0].care_units[1]: "ward-3" is not a care unit of north of the configuration, which has ward-1, ward-2',
  ],
  [
    { grants: [{ emr: 'north' }, { emr: 'north', care_units: ['ward-1'] }] },
    'grants[1].emr: "north" is granted with all its care units and with some of them; choose one',
  ],
  [{ return_urls: ['javascript:alert(1)'] }, 'return_urls[0]: must be a URL that starts with https:// or http://'],
  [{ return_urls: ['https://a@example.org'] }, 'return_urls[0]: must be a URL that starts with https:// or http://'],
])('%j is rejected with the place and what is expected', (change, expected) => {
  expect(mistakesIn({ ...right, ...change })).toEqual([expect.stringContaining(expected)]);
});

const unreadable =
  'name: must not contain control characters, or characters that are invisible or change the direction of text';

test.each([
  ['a tab', 'Booking\tsite'],
  ['DEL', 'Booking\u007fsite'],
  ['a line separator', 'Booking\u2028site'],
  ['a paragraph separator', 'Booking\u2029site'],
  ['a right-to-left override', 'Booking \u202etis'],
  ['an isolate', 'Booking \u2066site'],
  ['a right-to-left mark', 'Booking\u200fsite'],
  ['a zero-width space', 'Booking\u200bsite'],
  ['a joiner in a Latin word', 'Book\u200ding'],
  ['a joiner at the end', 'بوكينغ\u200c'],
  ['a soft hyphen', 'Book\u00ading'],
  ['a Hangul filler', 'Booking\u3164'],
  ['a tag', 'Booking\u{e0041}'],
  ['a private character', 'Booking \ue000'],
  ['a lone surrogate', 'Booking \ud800'],
])('a name with %s is rejected', (_what, name) => {
  expect(mistakesIn({ name })).toEqual([unreadable]);
});

test.each([
  'Ærlig Åpen Ñandú',
  'e\u0301',
  "St. Olav's – «Nord» & Co. (2)",
  'می\u200cخواهم',
  'क्\u200dष',
  '예약',
  '予約',
  'Heart ❤️',
  '😀',
])('the name %s is accepted', (name) => {
  expect(mistakesIn({ name })).toEqual([]);
});
