import { tidyName } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import type { Access } from '../api/endpoint.ts';
import { patientIdentifier } from '../api/identifiers.ts';
import { hasScope } from '../clients/client-registry.ts';
import { findPatient } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inBody } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { patientCreationSchema } from './contract.ts';
import type { NamedPatient, PatientPlan } from './plan.ts';

/** Looks the patient up by the identifier. Whether it is who is named is for `checkName`. */
export async function planPatient(
  { client, ehr }: Access,
  body: Static<typeof patientCreationSchema>,
  readHeader: ReadHeader,
): Promise<PatientPlan> {
  if (!ehr.offers('findPatient') || !ehr.offers('createPatient')) throw new Problem('operation_unsupported');
  const place = inBody('identifier');
  const identifier = patientIdentifier(body.identifier, place, ehr, readHeader);
  if (identifier.type === 'emr_id') {
    const detail = 'A patient is created by a national number. The EHR gives the `emr_id`.';
    throw problemAt(place, 'identifier_type_unsupported', detail);
  }
  const { gender = null, phone = null, email = null, address } = body;
  const named: NamedPatient = {
    identifier,
    givenName: tidyName(body.given_name),
    familyName: tidyName(body.family_name),
    birthDate: body.birth_date,
    gender,
    phone,
    email,
    address: address
      ? {
          lines: address.lines,
          postalCode: address.postal_code ?? null,
          city: address.city ?? null,
          country: address.country ?? null,
        }
      : null,
  };
  const found = await findPatient(ehr, identifier, { place });
  return { named, found, showsContact: hasScope(client, 'patients:read', 'Patient') };
}
