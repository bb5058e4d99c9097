import { randomUUID } from 'node:crypto';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { EhrResponse } from '../http.ts';
import { capability, NotChecked } from './check.ts';
import { describe, expectThat } from './expect.ts';
import { patientId, windowOf } from './steps.ts';
import type { Subject } from './subject.ts';
import { expectNoTextOfEhr, pageInHtml, refusalInJson } from './text-of-ehr.ts';
import { watchingCall } from './watched-calls.ts';

const json = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html' };

/** What an EHR that is out of order answers, or what stands before it. */
const answers: Readonly<Record<string, EhrResponse>> = {
  'status 500': { status: 500, headers: json, text: refusalInJson },
  'status 403': { status: 403, headers: json, text: refusalInJson },
  'a page in HTML': { status: 200, headers: html, text: pageInHtml },
  // As a proxy does, or another server behind a wrong URL. The EHR's own 404 can say that there is none.
  'a page in HTML with status 404': { status: 404, headers: html, text: pageInHtml },
};

/** What a connector may keep for a while, so that a read before would hide it. */
const kept = ['listResources', 'listHealthcareServices'];

/** Reads by their operation. `undefined`: the connector does not have it. */
async function readsOf(subject: Subject): Promise<Readonly<Record<string, (() => Promise<unknown>) | undefined>>> {
  const { careUnit, facts } = subject;
  const connector: Connector = subject.connector;
  const [identifier] = facts.patient ?? [];
  const named = identifier ? { patientId: await patientId(subject) } : {};
  const wanted = connector.capabilities.slotsByPatient ? named : {};
  const range = { ...windowOf(subject), limit: 10 };
  return {
    findPatient: identifier && (async () => connector.findPatient?.(identifier)),
    listResources: connector.listResources && (async () => connector.listResources?.(careUnit)),
    listHealthcareServices:
      connector.listHealthcareServices && (async () => connector.listHealthcareServices?.(careUnit)),
    listTimeSlots:
      connector.listTimeSlots && (async () => connector.listTimeSlots?.({ careUnit, ...range, ...wanted })),
    findAppointments: connector.findAppointments && (async () => connector.findAppointments?.(careUnit, ['1'])),
    listAppointments:
      connector.listAppointments && (async () => connector.listAppointments?.({ careUnit, limit: 10, ...named })),
    findOperation: connector.findOperation && (async () => connector.findOperation?.(careUnit, randomUUID())),
  };
}

export const failingEhr = capability('failing-ehr', () => true, {
  'no read takes an EHR that fails for one that has nothing': async (subject) => {
    // Nothing is kept yet.
    await subject.restart?.();
    let sent = 0;
    for (const [operation, read] of Object.entries(await readsOf(subject))) {
      if (!read) continue;
      // The connector has signed in, so that the answer is that to the read.
      if (!kept.includes(operation)) await read();
      for (const [answer, response] of Object.entries(answers)) {
        const watched = await watchingCall(read, async () => response);
        // What the connector keeps for a while needs no request.
        if (watched.sent === 0) continue;
        sent += watched.sent;
        const { outcome } = watched;
        expectThat(
          outcome.status === 'rejected',
          `${operation} returned a result, although the EHR answered every request with ${answer}`,
        );
        expectNoTextOfEhr(outcome.reason, operation);
        const isTold = outcome.reason instanceof ConnectorError;
        expectThat(isTold, `${operation} threw ${describe(outcome.reason)} when the EHR answered with ${answer}`);
      }
    }
    if (sent === 0) throw new NotChecked('the connector sends no request through the HTTP client that it is given');
  },
});
