import { afterAll, afterEach, expect, test } from 'vitest';
import { withQuickRecovery } from '../../../../test/gateway/recovery.ts';
import { startProxiedGateway } from '../../../../test/postgres-proxy/proxied-gateway.ts';
import type { Unit } from '../../../../test/postgres-proxy/unit.ts';
import { book, sodermalm } from '../../../../test/requests/bookings.ts';
import { careUnitOf, codeFor, eventually, expireCode, rowsOf } from '../../../../test/requests/codes.ts';
import { eventsAbout, expectEvents } from '../../../../test/requests/events.ts';
import { expectProblem } from '../../../../test/requests/problems.ts';

const gateway = await startProxiedGateway({
  configure: (demo) => {
    const quick = withQuickRecovery(demo, { timeout_ms: 2_000 });
    const emrs = quick.emrs.map((emr) => ({ ...emr, connection: { ...emr.connection, changes_seconds: 1 } }));
    return { ...quick, emrs };
  },
});
afterEach(() => gateway.proxy.heal());
afterAll(() => gateway.close());
const careUnit = careUnitOf(gateway, sodermalm);

/** The commit that reserves the ids of a confirmation and stores its plan. */
const ofConfirmation = ({ kind, statements }: Unit) =>
  kind === 'commit' &&
  statements.some((text) => /update "confirmation_items"/i.test(text)) &&
  statements.some((text) => /(insert into|update) "?operations"?/i.test(text));

// In both ways the caller gets no answer, and a code that is not confirmed in time expires.
test.each(['before', 'after'] as const)(
  'if the connection breaks %s the commit of a confirmation, its expiry has an event, and staff changes are reported',
  async (kind) => {
    const feed = "SELECT 1 FROM ehr_change_feeds WHERE emr = 'sandbox-se' AND cursor IS NOT NULL";
    await eventually(async () => expect(await rowsOf(gateway, feed)).toHaveLength(1));
    const booked = await book(gateway, { careUnit: sodermalm });
    const other = await book(gateway, { careUnit: sodermalm });
    expect((await careUnit.confirm(other.id, await codeFor(gateway, other.id))).status).toBe(200);
    await eventsAbout(gateway, other.id, 2);
    const code = await codeFor(gateway, booked.id);
    const cut = gateway.proxy.cutNext({ kind }, ofConfirmation);
    expectProblem(await careUnit.confirm(booked.id, code), 504, 'outcome_unknown');
    await cut.settled;
    await gateway.ehr('sandbox-se').cancel(other.id);
    await expireCode(gateway, booked);
    await expectEvents(gateway, other.id, ['awaiting_confirmation', 'booked', 'cancelled']);
    await expectEvents(gateway, booked.id, ['awaiting_confirmation', 'confirmation_expired']);
    expect(await careUnit.get(booked.id)).toMatchObject({ status: 'cancelled' });
  },
  // By default, a change by staff waits for more than two minutes.
  90_000,
);
