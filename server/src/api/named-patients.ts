import type { FastifyRequest } from 'fastify';
import type { EhrConnection } from '../ehr/connection.ts';
import { nothingSeen, watching } from '../ehr/seen.ts';
import { Problem } from '../problems/problem.ts';
import { headerReader } from './header-reader.ts';
import { patientIdentifier } from './identifiers.ts';
import { inPath } from './places.ts';

/**
 * The patients that a request names, in Patient ID notation: for one that was rejected before its handler read them. A text
 * that is no identifier names nobody.
 */
export function namedPatients(request: FastifyRequest, ehr: EhrConnection): readonly string[] {
  const { params, query, body, server } = request;
  const readHeader = headerReader(request, server.identifierHeaders);
  const seen = nothingSeen();
  for (const part of [params, query, body]) {
    const text = typeof part === 'object' && part !== null && 'patient_id' in part ? part.patient_id : undefined;
    if (typeof text !== 'string') continue;
    try {
      watching(seen, () => patientIdentifier(text, inPath('patient_id'), ehr, readHeader));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }
  return [...seen.patients];
}
