import { type Html, html } from '../../html/html.ts';
import { textField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import type { ConsoleResponse, Route, SignedIn } from '../frame/page.ts';
import { facts, mistakeSummary, notice, table, time } from '../frame/parts.ts';
import { listOwnSessions } from './open-sessions.ts';
import { type ListedOperator, listOperators } from './operators.ts';
import type { AccountNotChanged } from './own-account.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: 'your-account', role: 'view', page: ownAccountPage }];

const results: Readonly<Record<string, string>> = {
  password: 'Your password is changed, and your other sessions have ended.',
  codes: 'Your one-time codes are changed, and your other sessions have ended.',
};

/** What is wrong with a form. */
export interface OwnAccountProblem {
  /** The name of the field. Without one, the text is about the form as a whole. */
  readonly field?: string;
  readonly text: string;
  /** Default: 400. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The operator's own account and sessions. */
export async function ownAccountPage(context: SignedIn, problem?: OwnAccountProblem): Promise<ConsoleResponse> {
  const { session, request } = context;
  const account = await findOwnAccount(context);
  const result = problem ? undefined : results[request.query.get('result') ?? ''];
  return consolePage(context, {
    title: problem ? 'Error: Your account' : 'Your account',
    section: 'your-account',
    status: problem ? (problem.status ?? 400) : 200,
    ...(problem?.headers && { headers: problem.headers }),
    content: html`${problem && failure(problem)}${result !== undefined && notice('good', result)}<h1>Your account</h1>
${facts([
  ['Name', session.name],
  ['Role', session.role],
  ...(account ? ([['Last sign-in', time(account.lastSignInAt)]] as const) : []),
])}
${account ? accountForms(context, account, problem) : atProvider(context)}
<h2>Sessions</h2>
${await sessionTable(context)}
<p>Signing out everywhere also signs you out here.</p>
${postForm(context, 'your-account/sign-out', html`<div class="actions"><button class="danger">Sign out everywhere</button></div>`)}`,
  });
}

function failure({ field, text }: OwnAccountProblem): Html {
  return field === undefined
    ? notice('bad', `Nothing was changed. ${text}`)
    : mistakeSummary('Nothing was changed.', [[field, text]]);
}

/** `undefined`: signed in with OpenID Connect. */
export async function findOwnAccount({ deps, session }: SignedIn): Promise<ListedOperator | undefined> {
  return (await listOperators(deps.services.db)).find(({ id }) => id === session.operatorId);
}

function atProvider({ deps }: SignedIn): Html {
  const { oidc } = deps.settings;
  return html`<p class="advice">You sign in with ${oidc ? new URL(oidc.issuer).hostname : 'your provider'}, which manages your password
and your one-time codes. Your role comes from it too.</p>`;
}

function accountForms(context: SignedIn, account: ListedOperator, problem: OwnAccountProblem | undefined): Html {
  const at = (field: string) => (problem?.field === field ? problem.text : undefined);
  const codes = html`<h2>One-time codes</h2>
<p>${
    account.hasTotp
      ? 'To use another authenticator app or phone, set up new codes. The current ones work until you have entered a new one.'
      : 'Set up codes to change the password of this account of the demo. Without them, it gets the one of the start page at each start.'
  }</p>
${postForm(
  context,
  'your-account/codes',
  html`${username(account)}<div class="fields">${textField({ name: 'codes_password', label: 'Password', type: 'password', autocomplete: 'current-password', problem: at('codes_password') })}</div>
<div class="actions"><button class="secondary">Set up new codes</button></div>`,
)}`;
  if (!account.hasTotp) return codes;
  return html`<h2>Password</h2>
<p>Changing it ends your other sessions.</p>
${postForm(
  context,
  'your-account/password',
  html`${username(account)}<div class="fields">${[
    textField({
      name: 'password',
      label: 'Current password',
      type: 'password',
      autocomplete: 'current-password',
      problem: at('password'),
    }),
    textField({
      name: 'new_password',
      label: 'New password',
      hint: 'At least 12 characters.',
      type: 'password',
      autocomplete: 'new-password',
      problem: at('new_password'),
    }),
    textField({
      name: 'repeated_password',
      label: 'New password again',
      type: 'password',
      autocomplete: 'new-password',
      problem: at('repeated_password'),
    }),
    textField({
      name: 'code',
      label: 'One-time code',
      hint: 'A code can be used once, so not the one of your sign-in.',
      autocomplete: 'one-time-code',
      maxLength: 10,
      problem: at('code'),
    }),
  ]}</div>
<div class="actions"><button>Change the password</button></div>`,
)}
${codes}`;
}

/** For password managers. */
function username({ name }: ListedOperator): Html {
  return html`<input type="text" autocomplete="username" value="${name}" hidden readonly>`;
}

async function sessionTable({ deps, session }: SignedIn): Promise<Html> {
  const sessions = await listOwnSessions(deps.services.db, session, deps.settings);
  return table(
    'Where you are signed in',
    ['Signed in', 'Last request', 'Ends at the latest', 'Browser'],
    sessions.map(({ startedAt, lastUsedAt, expiresAt, isThis }) => [
      time(startedAt),
      time(lastUsedAt),
      time(expiresAt),
      isThis ? 'this one' : 'another one',
    ]),
  );
}

/** Why the credentials in a form did not lead to a change. */
export function problemOf(result: AccountNotChanged, rejected: string): OwnAccountProblem {
  if (result === 'rejected') return { text: rejected, status: 403 };
  const { waitSeconds } = result;
  return {
    text: `Too many wrong passwords or codes. Wait ${waitSeconds} ${waitSeconds === 1 ? 'second' : 'seconds'}, then try again.`,
    status: 429,
    headers: { 'retry-after': String(waitSeconds) },
  };
}
