import type { ConfiguredCareUnit } from '@crossward/connector-kit';
import { timeZone } from '../fake/data-set.ts';
import type { OwnRules } from '../fake/own-rules.ts';
import type { FakeOptions } from '../fake/server.ts';
import type { FhirSettings } from '../src/settings.ts';

/*
 * A server behind an API gateway, built for one portal, as COSMIC Open Services is published:
 * https://fhir.openservices.cambio.se/site/
 */

const profile = (name: string) => `https://fhir.cambio.se/StructureDefinition/Appointment${name}Se/v1`;

const rules: OwnRules = {
  patientHeader: 'Patient',
  slots: { unit: 'healthcareFacility', service: 'healthcareService', moved: 'appointmentId' },
  changes: {
    profiles: { create: profile('Booking'), update: profile('Rebooking'), cancel: profile('Cancellation') },
    message: 'https://fhir.cambio.se/StructureDefinition/appointment-message',
  },
  units: { 'SE0000000000-1N': 'Location/north', 'SE0000000000-1S': 'Location/south' },
};

export const portalServer: FakeOptions = {
  transactions: 'none',
  plainWrites: false,
  checksAppointments: true,
  history: false,
  documents: false,
  rules,
  habits: {
    wantsHeader: ['ocp-apim-subscription-key', 'k3y'],
    lacks: ['PractitionerRole', 'Device', 'HealthcareService'],
    unlisted: ['Slot', 'Schedule'],
    readsNo: ['Appointment', 'Slot', 'Schedule'],
    refusesSearchesInUrls: true,
    searches: {
      Patient: ['_id', 'identifier', 'family', 'given'],
      Practitioner: ['_id', 'identifier', 'name'],
      Location: ['type'],
      Appointment: ['_id', '_profile', 'patient', 'date'],
      Slot: [...Object.values(rules.slots), '_profile', 'start', '_include'],
    },
    needs: { Slot: [[rules.slots.unit, rules.slots.service, 'start']] },
  },
};

const service = (id: string, name: string) => ({
  id,
  name,
  duration_minutes: 30,
  reference: `HealthcareService/${id}`,
});

/** The settings for such a server. */
export const portalSettings: Partial<FhirSettings> = {
  headers: { 'Ocp-Apim-Subscription-Key': 'k3y' },
  patient_header: { name: 'Patient', identifier_type: 'se_personal_number' },
  search_method: 'post',
  healthcare_services: [service('consultation', 'Konsultation'), service('vaccination', 'Vaccination')],
  slots: { by_service: rules.slots, lower_bound: 'gt', longest_hours: 24 },
  booking: {
    mode: 'create',
    booked_status: 'proposed',
    comment_extension: rules.changes.message,
    bodies: {
      create: { profile: rules.changes.profiles.create, elements: ['participant', 'slot'] },
      update: { profile: rules.changes.profiles.update, elements: ['slot'] },
      cancel: { profile: rules.changes.profiles.cancel, elements: ['status'] },
    },
  },
};

const unit = (id: string, slot_unit: string, resources: readonly string[]): ConfiguredCareUnit => ({
  id,
  timeZone,
  settings: { location: `Location/${id}`, slot_unit, resources },
});
export const portalUnits = [
  unit('north', 'SE0000000000-1N', ['r-1', 'r-2', 'location_room-1']),
  unit('south', 'SE0000000000-1S', ['r-3']),
] as const;
