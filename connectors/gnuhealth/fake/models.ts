/** The fields of a model that are not plain: how the server stores, checks and returns them. */
export interface Model {
  readonly instants?: readonly string[];
  readonly bytes?: readonly string[];
  /** Fields that name a record of another model. */
  readonly references?: Readonly<Record<string, string>>;
  readonly demanded?: readonly string[];
  /** Reading a `Char` field strips it. */
  readonly stripped?: readonly string[];
}

const own = ['create_date', 'write_date'];

export const models: Readonly<Record<string, Model>> = {
  'gnuhealth.appointment': {
    instants: [...own, 'appointment_date', 'appointment_date_end'],
    references: {
      patient: 'gnuhealth.patient',
      healthprof: 'gnuhealth.healthprofessional',
      speciality: 'gnuhealth.specialty',
      institution: 'gnuhealth.institution',
      event: 'calendar.event',
    },
  },
  'res.user': { instants: own, references: { calendar: 'calendar.calendar' } },
  'calendar.calendar': { instants: own },
  'calendar.event': { instants: [...own, 'dtstart', 'dtend'], references: { calendar: 'calendar.calendar' } },
  'gnuhealth.patient': { instants: own, references: { party: 'party.party' } },
  'party.party': { instants: own, references: { internal_user: 'res.user' } },
  'party.address': { instants: own, references: { party: 'party.party', country: 'country.country' } },
  'country.country': { instants: own },
  'gnuhealth.institution': { instants: own },
  'gnuhealth.specialty': { instants: own },
  'gnuhealth.healthprofessional': {
    instants: own,
    references: { party: 'party.party', institution: 'gnuhealth.institution' },
  },
  'gnuhealth.hp_specialty': {
    instants: own,
    references: { healthprof: 'gnuhealth.healthprofessional', specialty: 'gnuhealth.specialty' },
  },
  'gnuhealth.patient.evaluation': {
    instants: [...own, 'evaluation_start'],
    references: {
      patient: 'gnuhealth.patient',
      healthprof: 'gnuhealth.healthprofessional',
      institution: 'gnuhealth.institution',
      appointment: 'gnuhealth.appointment',
    },
    demanded: ['patient', 'healthprof', 'evaluation_start'],
    stripped: ['chief_complaint'],
  },
  'ir.attachment': { instants: own, bytes: ['data'], demanded: ['name', 'resource'], stripped: ['name'] },
  'ir.model.log': { instants: own },
  'ir.module': { instants: own },
};
