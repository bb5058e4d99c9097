import Type, { type Static } from 'typebox';
import { id, settingText } from './schema-parts.ts';

const service = Type.Object(
  {
    code: id('What callers search for, in every care unit. Unique.'),
    name: settingText('Display name.'),
    healthcare_services: Type.Optional(
      Type.Array(
        Type.Object(
          {
            emr: id('Id of the EHR.'),
            care_unit: Type.Optional(id('Id of the care unit. Absent: every care unit of the EHR.')),
            ids: Type.Array(settingText('Id of a healthcare service in the EHR.'), {
              description: 'What means it there.',
              minItems: 1,
              uniqueItems: true,
            }),
          },
          { additionalProperties: false },
        ),
        { description: 'Healthcare services that mean this one, by their ids.' },
      ),
    ),
    codes: Type.Optional(
      Type.Array(
        Type.Object(
          {
            system: settingText('URI of the system, such as `http://snomed.info/sct`.'),
            code: settingText('The code.'),
          },
          { additionalProperties: false },
        ),
        { description: 'Healthcare services that mean this one, by the codes that their EHRs give them.' },
      ),
    ),
  },
  { additionalProperties: false },
);

export const servicesSchema = Type.Array(service, {
  description: 'Services that mean the same in all care units, for the search in many of them.',
});

export type ConfiguredService = Static<typeof service>;
