import { identifierTypeSchema } from '@crossward/connector-kit';
import { secretSetting, serverUrlSchema, settingsOf, textSetting } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';

const id = (description: string) => Type.Integer({ minimum: 1, description });

export const gnuHealthSettings = settingsOf({
  base_url: serverUrlSchema('Address of the Tryton server, such as https://health.example:8000.'),
  database: Type.String({ pattern: '^[A-Za-z0-9_.-]+$', description: 'Name of the database.' }),
  user: textSetting(
    'Login of a user of its own for the gateway, with the groups Health Front Desk and Health Doctor. Its changes count as changes of the gateway.',
  ),
  password: secretSetting,
  national_number: Type.Optional(
    Type.Unsafe<string>({
      ...identifierTypeSchema('patient'),
      description:
        'The type of the number in the field PUID of people. Absent: patients are found by their own id only.',
    }),
  ),
  cancelled_state: Type.Optional(
    Type.Union([Type.Literal('user_cancelled'), Type.Literal('center_cancelled')], {
      description: 'The state of an appointment that the gateway cancels. Default: user_cancelled.',
    }),
  ),
  minutes_without_end: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1440,
      description: 'Length of an appointment for which nobody has entered an end. Default: 30.',
    }),
  ),
  telemedicine: Type.Optional(
    Type.Union([Type.Literal('phone'), Type.Literal('video')], {
      description: 'How appointments of the type telemedicine take place. Absent: not told.',
    }),
  ),
  note_author: Type.Optional(
    id(
      'Id of a health professional that stands for the gateway: the author of medical notes for which none is named. Absent: the gateway writes no notes.',
    ),
  ),
});
export type GnuHealthSettings = Static<typeof gnuHealthSettings>;

/** The `settings` of a care unit. */
export const careUnitSettings = settingsOf({ institution: id('Id of the institution.') });

/** Used without `minutes_without_end`. */
export const defaultMinutes = 30;
