import { type SecretValue, secretSchema } from '@crossward/connector-kit';
import { type Static, serverUrlSchema, Type } from '@crossward/connector-kit/rest';

/** The `settings` of the connection. */
export const settingsSchema = Type.Object(
  {
    base_url: serverUrlSchema('Base URL of the EHR, such as https://ehr.example/api.'),
    user: Type.String({ minLength: 1, description: 'The user of the EHR that the gateway signs in as.' }),
    password: Type.Unsafe<SecretValue>(secretSchema),
  },
  { additionalProperties: false },
);
export type Settings = Static<typeof settingsSchema>;

/** The `settings` of a care unit. They are checked when the connector is opened. */
export const unitSchema = Type.Object(
  { department: Type.String({ minLength: 1, description: 'The id of the department in the EHR.' }) },
  { additionalProperties: false },
);
export type UnitSettings = Static<typeof unitSchema>;
