import { valuePattern } from './identifier-patterns.ts';

/** Rules for check digits, by name. What they compute is the gateway's business: values are checked before a connector gets them. */
export const identifierChecks = [
  'none',
  'luhn',
  'luhn_80840',
  'mod11_10to2',
  'mod11_orgnr',
  'mod11_bc_phn',
  'mod31_hetu',
  'mod97_nir',
  'cpr',
  'chi',
  'kennitala',
  'kvnr',
  'elfproef',
  'nhi',
  'codice_fiscale',
  'dni23',
  'isikukood',
  'medicare_au',
  'verhoeff',
  'gs1',
] as const;
export type IdentifierCheck = (typeof identifierChecks)[number];

/** A type of number that others than the EHR assign. */
export interface IdentifierType {
  /** What stands before the colon. */
  readonly id: string;
  /** In the words of its country. */
  readonly name: string;
  /** Whose it can be. */
  readonly of: readonly ('patient' | 'resource')[];
  /** Whether it is the number of a person: then it is in no URL, and in no text that people or logs get. */
  readonly national: boolean;
  /** Of the normal form: see `valuePattern`. */
  readonly pattern: string;
  /** Lengths of the groups in which people write it, with spaces or hyphens between them. The normal form has none. */
  readonly groups?: readonly number[] | undefined;
  /** Whether lower and upper case are different numbers. Absent: the normal form is in upper case. */
  readonly caseMatters?: boolean | undefined;
  readonly check: IdentifierCheck;
  /** Identifier systems of FHIR. The first one is written, all are read. */
  readonly systems: readonly string[];
  /** Numbers of people who are not registered: which they are, and their own system, one of `systems`. */
  readonly temporary?: { readonly pattern: string; readonly system: string } | undefined;
  /** Those that authorities keep free for tests. */
  readonly synthetic?: string | undefined;
}

/**
 * The types that come with the gateway. The first four are those of the interface's specification.
 *
 * - Norway: https://www.ehelse.no/standardisering, OID 2.16.578.1.12.4.1.4.1 (fødselsnummer) and .2 (D-number, with 40 added to
 *   the day); https://simplifier.net/hl7norwayno-basis
 * - Sweden: http://hl7.se/fhir/ig/base and the OIDs of Inera. The day of a samordningsnummer has 60 added
 * - England: https://simplifier.net/guide/nhsdigital
 * - HSA-id: Inera, HSA innehåll, attribute hsaIdentity
 * - Denmark: https://hl7.dk/fhir/core. Finland: https://hl7.fi/fhir/finnish-base-profiles
 * - New Zealand: HISO 10046. Australia: AU Base. Germany: Basisprofile DE. Canada: Infoway's registry of systems
 * - The Netherlands: nl-core. France: FR Core and the ANS's list of OIDs for the INS. Italy: HL7 Italia
 * - Scotland and Northern Ireland have no system that is agreed on: all that are in use are read
 */
const builtIn: readonly IdentifierType[] = [
  {
    id: 'no_personal_number',
    name: 'Norwegian personal number',
    of: ['patient', 'resource'],
    national: true,
    pattern: '\\d{11}',
    groups: [6, 5],
    check: 'none',
    systems: ['urn:oid:2.16.578.1.12.4.1.4.1', 'urn:oid:2.16.578.1.12.4.1.4.2'],
    temporary: { pattern: '[4-9]\\d{10}', system: 'urn:oid:2.16.578.1.12.4.1.4.2' },
  },
  {
    id: 'se_personal_number',
    name: 'Swedish personal number',
    of: ['patient', 'resource'],
    national: true,
    // With reserve numbers, of which some have a letter.
    pattern: '\\d{8}[0-9PTF]\\d{3}',
    groups: [8, 4],
    check: 'none',
    systems: [
      'http://electronichealth.se/identifier/personnummer',
      'urn:oid:1.2.752.129.2.1.3.1',
      'http://electronichealth.se/identifier/samordningsnummer',
      'urn:oid:1.2.752.129.2.1.3.3',
    ],
    temporary: {
      pattern: '\\d{6}6[1-9][0-9PTF]\\d{3}|\\d{6}[7-9]\\d[0-9PTF]\\d{3}',
      system: 'http://electronichealth.se/identifier/samordningsnummer',
    },
  },
  {
    id: 'nhs_number',
    name: 'NHS number',
    of: ['patient'],
    national: true,
    pattern: '\\d{10}',
    groups: [3, 3, 4],
    check: 'none',
    systems: ['https://fhir.nhs.uk/Id/nhs-number'],
  },
  {
    id: 'hsa_id',
    name: 'Swedish HSA-id',
    of: ['resource'],
    national: false,
    pattern: 'SE\\d{10}-[0-9A-Z]{1,18}',
    check: 'none',
    systems: ['urn:oid:1.2.752.29.4.19', 'urn:oid:1.2.752.129.2.1.4.1'],
  },
  {
    id: 'dk_cpr',
    name: 'Danish CPR number',
    of: ['patient'],
    national: true,
    // With the X-eCPR of people who have none.
    pattern: '\\d{10}|\\d{7}[A-Z]{2}\\d',
    groups: [6, 4],
    check: 'cpr',
    systems: ['urn:oid:1.2.208.176.1.2', 'urn:oid:1.2.208.176.1.6.1.1'],
    temporary: { pattern: '\\d{7}[A-Z]{2}\\d', system: 'urn:oid:1.2.208.176.1.6.1.1' },
  },
  {
    id: 'fi_hetu',
    name: 'Finnish personal identity code',
    of: ['patient'],
    national: true,
    // The sign of the century is a part of it: 010190-… and 010190U… are two people.
    pattern: '\\d{6}[-+A-FU-Y]\\d{3}[0-9A-FHJ-NPR-Y]',
    check: 'mod31_hetu',
    systems: ['urn:oid:1.2.246.21'],
    synthetic: '\\d{6}[-+A-FU-Y]9\\d{2}[0-9A-FHJ-NPR-Y]',
  },
  {
    id: 'is_kennitala',
    name: 'Icelandic kennitala',
    of: ['patient'],
    national: true,
    pattern: '[0-3]\\d{8}[089]',
    groups: [6, 4],
    check: 'kennitala',
    systems: [],
  },
  {
    id: 'gb_chi',
    name: 'Scottish CHI number',
    of: ['patient'],
    national: true,
    pattern: '[0-3]\\d{9}',
    groups: [6, 4],
    check: 'chi',
    systems: [
      'urn:oid:2.16.840.1.113883.2.1.3.2.4.16.53',
      'https://fhir.nhs.uk/Id/chi-number',
      'http://fhir.nhs.scot.uk/Id/national/chi-number',
    ],
  },
  {
    id: 'gb_hcn',
    name: 'Health and Care Number of Northern Ireland',
    of: ['patient'],
    national: true,
    pattern: '3[2-9]\\d{8}',
    groups: [3, 3, 4],
    check: 'mod11_10to2',
    systems: ['https://fhir.nhs.uk/Id/hc-number', 'https://fhir.nhs.uk/Id/hsc-number', 'https://fhir.hscni.net/Id/hcn'],
  },
  {
    id: 'nz_nhi',
    name: 'NHI number of New Zealand',
    of: ['patient'],
    national: true,
    // Those from July 2026 on have two letters at the end.
    pattern: '[A-HJ-NP-Z]{3}\\d{4}|[A-HJ-NP-Z]{3}\\d{2}[A-HJ-NP-Z]{2}',
    groups: [3, 4],
    check: 'nhi',
    systems: ['https://standards.digital.health.nz/ns/nhi-id'],
    synthetic: 'Z[A-HJ-NP-Z]{2}\\d{4}|Z[A-HJ-NP-Z]{2}\\d{2}[A-HJ-NP-Z]{2}',
  },
  {
    id: 'au_ihi',
    name: 'Australian IHI',
    of: ['patient'],
    national: true,
    pattern: '800360\\d{10}',
    groups: [4, 4, 4, 4],
    check: 'luhn',
    systems: ['http://ns.electronichealth.net.au/id/hi/ihi/1.0'],
  },
  {
    id: 'de_kvnr',
    name: 'German KVNR',
    of: ['patient'],
    national: true,
    pattern: '[A-Z]\\d{9}',
    check: 'kvnr',
    systems: ['http://fhir.de/sid/gkv/kvid-10', 'http://fhir.de/NamingSystem/gkv/kvid-10'],
  },
  {
    id: 'ca_on_hcn',
    name: 'Ontario health card number',
    of: ['patient'],
    national: true,
    // Without the version code, which changes with the card.
    pattern: '\\d{10}',
    groups: [4, 3, 3],
    check: 'luhn',
    systems: [
      'https://fhir.infoway-inforoute.ca/NamingSystem/ca-on-patient-hcn',
      'http://ehealthontario.ca/fhir/NamingSystem/ca-on-patient-hcn',
    ],
  },
  {
    id: 'nl_bsn',
    name: 'Dutch BSN',
    of: ['patient'],
    national: true,
    pattern: '\\d{9}',
    groups: [4, 2, 3],
    check: 'elfproef',
    systems: ['http://fhir.nl/fhir/NamingSystem/bsn', 'urn:oid:2.16.840.1.113883.2.4.6.3'],
    synthetic: '9999\\d{5}',
  },
  {
    id: 'fr_ins',
    name: 'French INS (NIR or NIA)',
    of: ['patient'],
    national: true,
    // Months from 20 on stand for unknown ones. Corsica has letters.
    pattern: ['0[1-9]', '1[0-2]', '[2-9]\\d']
      .flatMap((month) => ['\\d{2}', '2[AB]'].map((place) => `[1-478]\\d{2}${month}${place}\\d{8}`))
      .join('|'),
    groups: [1, 2, 2, 2, 3, 3, 2],
    check: 'mod97_nir',
    // Those for tests have systems of their own.
    systems: ['urn:oid:1.2.250.1.213.1.4.8', 'urn:oid:1.2.250.1.213.1.4.9'],
  },
  {
    id: 'it_cf',
    name: 'Italian codice fiscale',
    of: ['patient'],
    national: true,
    pattern: '[A-Z]{6}[0-9LMNPQRSTUV]{2}[ABCDEHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]',
    groups: [3, 3, 5, 5],
    check: 'codice_fiscale',
    systems: ['http://hl7.it/sid/codiceFiscale', 'urn:oid:2.16.840.1.113883.2.9.4.3.2'],
  },
  {
    id: 'no_hpr',
    name: 'Norwegian HPR number',
    of: ['resource'],
    national: false,
    pattern: '\\d{1,9}',
    check: 'none',
    systems: ['urn:oid:2.16.578.1.12.4.1.4.4'],
  },
  {
    id: 'us_npi',
    name: 'NPI of the United States',
    of: ['resource'],
    national: false,
    pattern: '[12]\\d{9}',
    check: 'luhn_80840',
    systems: ['http://hl7.org/fhir/sid/us-npi'],
  },
  {
    id: 'dk_sor',
    name: 'Danish SOR code',
    of: ['resource'],
    national: false,
    pattern: '\\d{14,18}',
    check: 'verhoeff',
    systems: ['urn:oid:1.2.208.176.1.1'],
  },
  {
    id: 'gb_ods',
    name: 'ODS code of England',
    of: ['resource'],
    national: false,
    pattern: '[A-Z0-9]{3,10}',
    check: 'none',
    systems: ['https://fhir.nhs.uk/Id/ods-organization-code'],
  },
];

/** One list for all copies of the kit in a process: a plug-in can have its own. */
const declared = Symbol.for('@crossward/connector-kit: declared identifier types');
const shared = globalThis as { [declared]?: readonly IdentifierType[] };

/** Adds the types of a configuration to those that come with the gateway, in place of those declared before. */
export function declareIdentifierTypes(types: readonly IdentifierType[]): void {
  shared[declared] = types;
}

/** The types that come with the gateway, and those of its configuration. */
export function identifierTypes(): readonly IdentifierType[] {
  return [...builtIn, ...(shared[declared] ?? [])];
}

/** The types that come with the gateway. */
export function builtInIdentifierTypes(): readonly IdentifierType[] {
  return builtIn;
}

export function identifierType(id: string): IdentifierType | undefined {
  return identifierTypes().find((it) => it.id === id);
}

/** The ids of the types for patients or for resources, `emr_id` first. */
export function identifierTypesOf(kind: 'patient' | 'resource'): readonly string[] {
  return ['emr_id', ...identifierTypes().flatMap((it) => (it.of.includes(kind) ? [it.id] : []))];
}

/** A type to choose in the settings of a connector. The gateway checks that the type exists, and is for `of`. */
export function identifierTypeSchema(of?: 'patient' | 'resource') {
  return {
    type: 'string',
    format: of === undefined ? 'identifier-type' : `${of}-identifier-type`,
    errorMessage: `must be a type of identifier${of === undefined ? '' : ` of ${of}s`}: one that the gateway has, or one of identifier_types`,
  } as const;
}

/**
 * The system of a number in a new FHIR resource.
 *
 * @param systems those of the type. Default: its own
 */
export function systemOf(
  { type, value }: { readonly type: string; readonly value: string },
  systems: readonly string[] = identifierType(type)?.systems ?? [],
): string | undefined {
  const { temporary } = identifierType(type) ?? {};
  const isTemporary = temporary && systems.includes(temporary.system) && valuePattern(temporary.pattern).fits(value);
  return isTemporary ? temporary.system : systems[0];
}

/** The value as callers may write it, in its normal form. Check digits are not checked. `undefined`: it has none. */
export function normalForm({ pattern, groups, caseMatters }: IdentifierType, text: string): string | undefined {
  // Other characters can have capital letters that are ASCII.
  if (!/^[\x20-\x7e]*$/.test(text)) return undefined;
  const written = caseMatters ? text : text.toUpperCase();
  const parts = written.split(/[ -]/);
  const isGrouped = groups && parts.length === groups.length && parts.every((it, index) => it.length === groups[index]);
  const value = isGrouped ? parts.join('') : written;
  return valuePattern(pattern).fits(value) ? value : undefined;
}
