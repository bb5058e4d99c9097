import { secretSetting, serverUrlSchema, settingsOf, textSetting } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';

/** Ids of OSCAR are integers. Anything else is not sent. */
export function isId(value: string): boolean {
  return /^[1-9]\d{0,8}$/.test(value);
}

export const oscarSettings = settingsOf({
  base_url: serverUrlSchema('Address of the SOAP services, such as https://oscar.example/oscar/ws.'),
  username: textSetting('A user of its own for the gateway.'),
  password: secretSetting,
  namespace: Type.Optional(
    textSetting('targetNamespace of the WSDL of ScheduleService. Default: http://ws.oscarehr.org/.'),
  ),
});
export type OscarSettings = Static<typeof oscarSettings>;

const code = settingsOf({
  code: Type.String({ pattern: '^[^\\s_]$', description: 'The character in templates.' }),
  appointment_types: Type.Optional(
    Type.Array(Type.String({ pattern: '^[1-9][0-9]*$' }), {
      minItems: 1,
      description: 'Ids of the appointment types for which its times can be booked. Default: all.',
    }),
  ),
});

/** The `settings` of a care unit. */
export const careUnitSettings = settingsOf({
  providers: Type.Array(Type.String({ pattern: '^[A-Za-z0-9]{1,6}$' }), {
    minItems: 1,
    description: 'Numbers of the providers who can be booked.',
  }),
  codes: Type.Array(code, { minItems: 1, description: 'The template codes whose times can be booked.' }),
  location: Type.Optional(Type.String({ maxLength: 30, description: 'Location of new appointments, or site.' })),
  program: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Program of new appointments: the day sheet shows one. Default: 0.' }),
  ),
});
export type CareUnitSettings = Static<typeof careUnitSettings>;
