import { type Static, secretSetting, serverUrlSchema, settingsOf, textSetting } from '@crossward/connector-kit/rest';

/** The `settings` of the connection. */
export const settingsSchema = settingsOf({
  base_url: serverUrlSchema('Base URL of the EHR, such as https://ehr.example/api.'),
  user: textSetting('The user of the EHR that the gateway signs in as.'),
  password: secretSetting,
});
export type Settings = Static<typeof settingsSchema>;

/** The `settings` of a care unit. They are checked when the connector is opened. */
export const unitSchema = settingsOf({ department: textSetting('The id of the department in the EHR.') });
export type UnitSettings = Static<typeof unitSchema>;
