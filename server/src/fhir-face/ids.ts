import { createHash } from 'node:crypto';
import type { EhrConnection } from '../ehr/connection.ts';
import { formatIdentifier } from '../identifiers/index.ts';

/** https://hl7.org/fhir/R4/datatypes.html#id */
const fhirId = /^[A-Za-z0-9.-]{1,64}$/;
const packed = 'cw.';
/** Of one part of a group appointment, where all ids are UUIDs: too long as text. */
const packedPair = 'cw2.';
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const uuidPair = new RegExp(`^${uuid}_${uuid}$`);
/** So many bytes have 60 signs in base 64, and fit with the prefix. */
const mostBytes = 45;

/**
 * The FHIR id of a native id: the same if it is one, otherwise its bytes in base 64 with `-` and `.` as the last two signs. Of two
 * UUIDs, the bytes that they stand for.
 *
 * @returns `undefined` for a native id that is too long to be named
 */
export function toFhirId(id: string): string | undefined {
  if (fhirId.test(id) && !isPacked(id)) return id;
  if (uuidPair.test(id)) return packedPair + toBase64(Buffer.from(id.replaceAll(/[-_]/g, ''), 'hex'));
  const bytes = Buffer.from(id, 'utf8');
  return bytes.length === 0 || bytes.length > mostBytes ? undefined : packed + toBase64(bytes);
}

function isPacked(id: string): boolean {
  return id.startsWith(packed) || id.startsWith(packedPair);
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '.');
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text.replaceAll('-', '+').replaceAll('.', '/'), 'base64');
}

function toUuidPair(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})(.{8})(.{4})(.{4})(.{4})(.{12})$/, uuidGroups);
}

const uuidGroups = '$1-$2-$3-$4-$5_$6-$7-$8-$9-$10';

/** The native id of a FHIR id. `undefined`: no record can have it. */
export function fromFhirId(id: string): string | undefined {
  if (!fhirId.test(id)) return undefined;
  if (!isPacked(id)) return id;
  const native = id.startsWith(packedPair)
    ? toUuidPair(fromBase64(id.slice(packedPair.length)))
    : fromBase64(id.slice(packed.length)).toString('utf8');
  return toFhirId(native) === id ? native : undefined;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const digestLength = 26;

/** The first 128 bits of a SHA-256 in base 32: 26 signs. */
export function digest(...parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest();
  let rest = bytes.subarray(0, 16).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  let text = '';
  for (let index = 0; index < digestLength; index++) {
    text = alphabet[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
}

/** A Schedule is one service of one resource. It is found again by trying all of them. */
export function scheduleId(resourceId: string, healthcareServiceId: string): string {
  return `s.${digest(resourceId, healthcareServiceId)}`;
}

/** The id of the Location that is the care unit itself. */
export function careUnitLocationId(careUnitId: string): string {
  return `u.${digest(careUnitId)}`;
}

/** A time in a Schedule. */
export interface SlotName {
  readonly scheduleId: string;
  readonly start: Date;
  readonly end: Date;
}

const slotPattern = /^([a-z2-7]{26})\.(\d{1,12})\.(\d{1,7})$/;

/** The name of a time: the Schedule, the start in seconds since 1970, and the length in seconds. It proves and holds nothing. */
export function slotId({ scheduleId: schedule, start, end }: SlotName): string {
  const seconds = Math.floor(start.getTime() / 1000);
  return `${schedule.slice('s.'.length)}.${seconds}.${Math.floor(end.getTime() / 1000) - seconds}`;
}

/** `undefined`: no Slot can have this id. */
export function readSlotId(id: string): SlotName | undefined {
  const [, schedule, seconds, length] = slotPattern.exec(id) ?? [];
  if (schedule === undefined || Number(length) === 0) return undefined;
  const start = Number(seconds) * 1000;
  const end = start + Number(length) * 1000;
  return { scheduleId: `s.${schedule}`, start: new Date(start), end: new Date(end) };
}

/** https://hl7.org/fhir/R4/http.html#versioning: a hash of fixed length over what the EHR keeps. */
export function versionOf(...kept: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(kept)).digest('hex').slice(0, 32);
}

const prefix = 'emr_id:';

/** The value of an `emr_id`, as responses of native endpoints have it. */
export function emrIdOf(notation: string): string {
  return notation.slice(prefix.length);
}

/** The FHIR id of an `emr_id`. `undefined`: it is too long to be named. */
export function fhirIdOf(notation: string): string | undefined {
  return toFhirId(emrIdOf(notation));
}

/** Names patients in FHIR. */
export interface PatientNames {
  /** The FHIR id of a native Patient ID. `undefined`: it is too long to be named. */
  fhirIdOf(notation: string): string | undefined;
  /** The native Patient ID of a FHIR id. `undefined`: no patient can have it. */
  notationOf(fhirId: string): string | undefined;
}

/** Where identifiers pass through, native ids are longer than ids in FHIR may be, and shorter tokens stand for the patients. */
export function patientNames({ capabilities, patientTokens }: EhrConnection): PatientNames {
  if (!capabilities.passesThrough) return { fhirIdOf, notationOf };
  return {
    fhirIdOf(notation) {
      const id = patientTokens.open(emrIdOf(notation));
      return id === undefined ? undefined : patientTokens.sealShort(id);
    },
    notationOf(fhirId) {
      const id = patientTokens.open(fhirId);
      return id === undefined ? undefined : formatIdentifier({ type: 'emr_id', value: patientTokens.seal(id) });
    },
  };
}

/** The `emr_id` of a FHIR id, as native endpoints take it. `undefined`: no record can have it. */
export function notationOf(fhirId: string): string | undefined {
  const value = fromFhirId(fhirId);
  return value === undefined ? undefined : formatIdentifier({ type: 'emr_id', value });
}

/** A reference to a resource of this care unit. */
export interface LocalReference {
  readonly type: string;
  readonly id: string;
}

/**
 * Reads a literal reference: relative, absolute below the care unit's base URL, or of a version.
 * https://hl7.org/fhir/R4/references.html#literal
 *
 * @param base the care unit's base URL
 * @returns `undefined`: it is none, or is of another server
 */
export function readReference(text: string, base: string): LocalReference | undefined {
  const relative = text.startsWith(`${base}/`) ? text.slice(base.length + 1) : text;
  const [, type, id] =
    /^([A-Z][A-Za-z]+)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/.exec(relative) ?? [];
  return type !== undefined && id !== undefined ? { type, id } : undefined;
}
