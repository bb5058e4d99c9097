import Type, { type Static } from 'typebox';
import { Default } from 'typebox/value';
import { settingText } from './schema-parts.ts';

function color(description: string, options: { default: string }) {
  return Type.String({
    description,
    pattern: '^#[0-9a-fA-F]{6}$',
    errorMessage: 'must be a colour such as "#0b5c8a": # and six hexadecimal digits',
    ...options,
  });
}

/** How the page looks on which patients enter a code. Set for an EHR; a care unit can override it. */
export const patientPageSchema = Type.Object(
  {
    name: Type.Optional(settingText('Name at the top of the page. Defaults to the name of the care unit.')),
    address: Type.Optional(settingText('Where the patient goes, such as a street address.', { maxLength: 300 })),
    phone: Type.Optional(
      Type.String({
        description: 'Phone number for patients who need help.',
        pattern: '^\\+?[0-9][0-9 ()-]{1,28}[0-9]$',
        errorMessage: 'must be a phone number, such as "+47 22 00 00 00"',
      }),
    ),
    logo_file: Type.Optional(
      settingText('PNG or SVG file of at most 256 KiB. Absolute, or relative to the working directory.', {
        maxLength: 4096,
      }),
    ),
    accent_color: Type.Optional(
      color('Colour of buttons and links on a light background. Needs a contrast of 4.5:1 to white.', {
        default: '#0b5c8a',
      }),
    ),
    dark_accent_color: Type.Optional(
      color('Colour of buttons and links on a dark background. Needs a contrast of 4.5:1 to #1a2128.', {
        default: '#7cc4f0',
      }),
    ),
    link_in_messages: Type.Optional(
      Type.Boolean({
        description: 'Adds a link to the page to messages with a code. Requires `http.public_url`.',
        default: false,
      }),
    ),
  },
  {
    description: 'The page on which patients enter a code. A care unit can override each setting.',
    additionalProperties: false,
  },
);
export type PatientPageInFile = Static<typeof patientPageSchema>;

/** The settings with defaults applied. */
export type PatientPageSettings = Readonly<
  Omit<PatientPageInFile, 'accent_color' | 'dark_accent_color' | 'link_in_messages'> &
    Required<Pick<PatientPageInFile, 'accent_color' | 'dark_accent_color' | 'link_in_messages'>>
>;

/** Merges the settings of the EHR and then of the care unit over the defaults. */
export function resolvePatientPage(...layers: readonly (PatientPageInFile | undefined)[]): PatientPageSettings {
  return Default(patientPageSchema, Object.assign({}, ...layers)) as PatientPageSettings;
}
