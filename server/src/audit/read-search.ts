import { identifierTypesOf } from '@crossward/connector-kit';
import { formatIdentifier, IdentifierError, parsePatientIdentifier } from '../identifiers/index.ts';
import type { AuditSearch } from './search.ts';

/** The filters of a search, as an operator typed them. Empty: no filter. */
export interface TypedSearch {
  readonly emr?: string | undefined;
  /** One identifier, or several of one patient with spaces or commas between them. */
  readonly patient?: string | undefined;
  readonly client?: string | undefined;
  readonly requestId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** How far back a search by request id goes unless it says from when. Request ids have no index, because each costs every request. */
const requestIdDays = 7;

/** Parses the filters of a search. Returns the mistake as a sentence, which does not repeat what was typed. */
export function readAuditSearch(typed: TypedSearch, now = new Date()): AuditSearch | string {
  const [emr, patient, clientId, requestId] = [typed.emr, typed.patient, typed.client, typed.requestId].map(trimmed);
  if (patient !== undefined && emr === undefined) return 'A search by patient needs an EHR.';
  const read = patient?.split(/[\s,]+/).map(readPatient) ?? [];
  const mistake = read.find((it) => it instanceof IdentifierError);
  if (mistake instanceof IdentifierError) return mistake.detail;
  const patients = read.filter((it) => typeof it === 'string');
  const [from, to] = [typed.from, typed.to].map(readTime);
  if (from === 'invalid' || to === 'invalid') {
    return 'A time has the form 2030-03-15 or 2030-03-15T09:00, in UTC, or an offset at its end.';
  }
  if (requestId !== undefined && patient === undefined && !from) {
    const start = new Date((to ?? now).getTime() - requestIdDays * 86_400_000);
    return { emr, clientId, requestId, from: start, to };
  }
  if (from && to && from >= to) return 'The start of the search must be before its end.';
  return { emr, ...(patient !== undefined && { patients }), clientId, requestId, from, to };
}

/** Says that a search by request id went back for some days only. `undefined`: it went back as far as it said. */
export function searchedDays(typed: TypedSearch, { from }: AuditSearch): string | undefined {
  if (!from || trimmed(typed.from) !== undefined) return undefined;
  return `Searched from ${from.toISOString()} on, ${requestIdDays} days, because a search by request id reads every entry. For earlier entries, say from when.`;
}

function trimmed(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}

/** An EHR may have been configured differently when the entry was written, so every type is accepted. */
function readPatient(text: string): string | IdentifierError {
  try {
    return formatIdentifier(
      parsePatientIdentifier(text, { types: identifierTypesOf('patient'), synthetic: true, reserveNumbers: true }),
    );
  } catch (error) {
    if (error instanceof IdentifierError) return error;
    throw error;
  }
}

const timePattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

function readTime(typed: string | undefined): Date | 'invalid' | undefined {
  const text = trimmed(typed);
  if (text === undefined) return undefined;
  const hasOffset = !text.includes('T') || /(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = new Date(hasOffset ? text : `${text}Z`);
  return timePattern.test(text) && !Number.isNaN(time.getTime()) ? time : 'invalid';
}
