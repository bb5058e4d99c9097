import { readChangeLags } from '../../../appointments/ehr-changes/metrics.ts';
import { countOverdueDrafts } from '../../../audit/overdue-drafts.ts';
import { troubleWords } from '../../../db/troubles.ts';
import { html } from '../../../html/html.ts';
import { listUnproven } from '../../accounts/renew-proofs.ts';
import { countRejectedSignIns } from '../../audit/activity.ts';
import { linkTo, type SignedIn } from '../../frame/page.ts';
import { counted, duration } from '../../frame/parts.ts';
import { isBrokenEhr } from './ehrs.ts';
import type { Need } from './need.ts';

/** Changes are read every few seconds. */
const lateChangesSeconds = 300;
/** As in the log. */
const wrongClockSeconds = 5;
/** People mistype a password now and then. */
const manyRejections = 10;

/** What concerns the gateway itself: its configuration, database, changes in EHRs that are read late, the audit trail, the clock and sign-ins. */
export async function gatewayInNeed(context: SignedIn): Promise<Need[]> {
  return [
    ...configurationFile(context),
    ...databaseTrouble(context),
    ...slowDatabase(context),
    ...(await lateChanges(context)),
    ...(await unlinkedEntries(context)),
    ...wrongClock(context),
    ...(await rejectedSignIns(context)),
    ...(await unprovenRows(context)),
  ];
}

function configurationFile({ deps: { configurationState } }: SignedIn): Need[] {
  const { refused, waiting, unused } = configurationState;
  const subject = 'Configuration';
  const needs: Need[] = [];
  if (refused) {
    const [first, ...more] = refused.mistakes;
    const others = more.length > 0 && ` and ${counted(more.length, 'other mistake')}`;
    const what = html`The file is not used, and the former one goes on: <code>${first}</code>${others}`;
    needs.push({ subject, what, since: refused.since, mend: html`<code>crossward config check</code>` });
  }
  if (waiting.length > 0) {
    const what = html`<code>${waiting.join(', ')}</code> of the file will be used after a restart`;
    needs.push({ subject, what, mend: 'Restart the gateway' });
  }
  const ofEhrs = unused.map(({ emr, text, since }) => ({
    subject: 'EHR of the database',
    what: html`This gateway does not use <code>${emr}</code> as it is stored: <code>${text}</code>`,
    since,
    mend: html`<code>crossward emr list</code>`,
  }));
  return [...needs, ...ofEhrs];
}

function databaseTrouble({ deps: { troubles } }: SignedIn): Need[] {
  const trouble = troubles.current();
  if (!trouble) return [];
  const words = troubleWords[trouble];
  return [
    {
      subject: 'Database',
      what: `${words.charAt(0).toUpperCase()}${words.slice(1)}`,
      since: troubles.since(trouble) ?? null,
      mend: html`<code>crossward doctor</code>`,
    },
  ];
}

function slowDatabase({ deps }: SignedIn): Need[] {
  if (!deps.clock.isSlow()) return [];
  return [
    {
      subject: 'Database',
      what: html`It takes ${(deps.clock.answerMilliseconds() / 1000).toFixed(1)} s to answer: requests are late, or get 503 <code>database_unavailable</code>`,
      mend: html`<code>crossward doctor</code>`,
    },
  ];
}

async function lateChanges(context: SignedIn): Promise<Need[]> {
  const { db, ehrs } = context.deps.services;
  const read = [...ehrs.values()].filter((ehr) => ehr.changesSeconds > 0 && !isBrokenEhr(context, ehr));
  const lags = await readChangeLags(
    db,
    read.map(({ id }) => id),
  );
  return lags.flatMap(({ emr, seconds }) => {
    const ehr = ehrs.get(emr);
    if (!ehr || seconds < Math.max(lateChangesSeconds, 5 * ehr.changesSeconds)) return [];
    return {
      subject: ehr.name,
      what: 'Changes by staff have no events: they are not read, or wait for unfinished operations',
      since: new Date(Date.now() - seconds * 1000),
      mend: html`<a href="${linkTo(context, `connections/${emr}`)}">Connection<span class="aside"> to ${ehr.name}</span></a>`,
    };
  });
}

async function unlinkedEntries(context: SignedIn): Promise<Need[]> {
  const overdue = await countOverdueDrafts(context.deps.services.db);
  if (overdue === 0) return [];
  return [
    {
      subject: 'Audit trail',
      what: html`${counted(overdue, 'entry has', 'entries have')} not been linked into a chain for more than a minute. The log has
the cause: <code>linking the audit trail failed</code> or <code>audit draft was falsified in the database</code>`,
      mend: html`<code>crossward audit verify</code>`,
    },
  ];
}

function wrongClock({ deps }: SignedIn): Need[] {
  const ahead = (Date.now() - deps.now().getTime()) / 1000;
  if (Math.abs(ahead) <= wrongClockSeconds) return [];
  return [
    {
      subject: 'Clock',
      what: `The clock of this machine is ${duration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} the database's`,
      mend: 'Check NTP on both machines',
    },
  ];
}

async function rejectedSignIns(context: SignedIn): Promise<Need[]> {
  const rejected = await countRejectedSignIns(context.deps.services.db);
  if (rejected < manyRejections) return [];
  return [
    {
      subject: 'Sign-ins',
      what: `${counted(rejected, 'sign-in')} to this console ${rejected === 1 ? 'was' : 'were'} rejected in the last hour`,
      mend: html`<a href="${linkTo(context, 'activity')}">Activity</a>`,
    },
  ];
}

/** Sessions of an older version end by themselves. */
async function unprovenRows(context: SignedIn): Promise<Need[]> {
  const { db, keys } = context.deps.services;
  const { clients, operators, endpoints } = await listUnproven(db, keys);
  const what = 'opens nothing: somebody else than the console and commands of this version has changed it';
  return [
    ...clients.map((id) => ({
      subject: 'Client',
      what: html`<code>${id}</code> ${what}`,
      mend: html`<code>crossward clients accept ${id}</code>`,
    })),
    ...operators.map((name) => ({
      subject: 'Account',
      what: html`<code>${name}</code> ${what}`,
      mend: html`<code>crossward operators reset ${name} --role …</code>`,
    })),
    ...endpoints.map(({ id, clientId }) => ({
      subject: 'Webhook endpoint',
      what: html`<code>${id}</code> of ${clientId} gets no events: no gateway of this version has made it for this client`,
      mend: html`<code>crossward webhooks accept ${id} --client ${clientId}</code>`,
    })),
  ];
}
