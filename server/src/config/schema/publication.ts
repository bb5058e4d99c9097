import Type, { type Static } from 'typebox';
import { settingText, webAddress } from './schema-parts.ts';

/** https://github.com/smart-on-fhir/smart-scheduling-links: what a Location needs, and where a time is booked. */
export const publicationSchema = Type.Object(
  {
    booking_url: Type.String({
      description:
        'Where people book a time, such as `https://book.example.org/?slot={slot}`. `{slot}`, `{schedule}` and `{location}` are ids of `/api/fhir-r4`, `{start}` is the start of the time.',
      pattern: '^https://[^/?#@{}\\s]+([/?#]([^{}\\s]|\\{(slot|schedule|location|start)\\})*)?$',
      maxLength: 1000,
      errorMessage:
        'must be a URL that starts with https:// and has no other placeholders than {slot}, {schedule}, {location} and {start}',
    }),
    website: webAddress('Web page of the care unit.'),
    phone: Type.Optional(settingText('Phone number of the care unit.', { maxLength: 40 })),
    address: Type.Object(
      {
        lines: Type.Array(settingText('Line of the street address.'), {
          description: 'The street address.',
          minItems: 1,
          maxItems: 5,
        }),
        city: settingText('City.'),
        state: settingText('State, county or region.'),
        postal_code: settingText('Postal code.', { maxLength: 20 }),
        country: Type.Optional(settingText('Country.')),
      },
      { description: 'Where people go.', additionalProperties: false },
    ),
  },
  {
    description:
      'Makes the free times of the care unit public, without credentials, at `/api/fhir-r4/$bulk-publish` (SMART Scheduling Links). Absent: they are not.',
    additionalProperties: false,
  },
);

export type PublicationSettings = Static<typeof publicationSchema>;
