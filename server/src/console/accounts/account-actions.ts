import { html } from '../../html/html.ts';
import { record } from '../audit/act.ts';
import type { OperatorAction } from '../audit/activity.ts';
import { selectField, textField } from '../frame/fields.ts';
import { consolePage, postForm } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../frame/page.ts';
import { enrolment, mistakeSummary, notice } from '../frame/parts.ts';
import { makePassword } from '../sign-in/password.ts';
import { findAccount, isOwn, noSuchAccount, roleChoices } from './accounts-page.ts';
import {
  changeRole,
  createOperator,
  disableOperator,
  type ListedOperator,
  operatorNamePattern,
  resetOperator,
  UnprovenAccount,
} from './operators.ts';
import { roles } from './roles.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'new-account', role: 'admin', page: newAccount },
  { method: 'POST', path: 'new-account', role: 'admin', page: createAccount },
  { method: 'POST', path: 'accounts/:name/role', role: 'admin', page: changeAccountRole },
  { method: 'POST', path: 'accounts/:name/reset', role: 'admin', page: resetAccount },
  { method: 'POST', path: 'accounts/:name/disable', role: 'admin', page: disableAccount },
];

interface FormShown {
  readonly name: string;
  readonly role: string;
  readonly problem?: { readonly field: 'Name' | 'Role'; readonly text: string; readonly status: number };
}

/** The form of a new account. */
async function newAccount(
  context: SignedIn,
  { name, role, problem }: FormShown = { name: '', role: 'view' },
): Promise<ConsoleResponse> {
  const at = (field: string) => (problem?.field === field ? problem.text : undefined);
  return consolePage(context, {
    title: problem ? 'Error: New account' : 'New account',
    section: 'accounts',
    status: problem?.status ?? 200,
    content: html`${problem && mistakeSummary('No account was created.', [[problem.field.toLowerCase(), `${problem.field}: ${problem.text}`]])}<h1>New account</h1>
<p>The next page shows the password and the one-time codes of the account, once.</p>
${postForm(
  context,
  'new-account',
  html`<div class="fields">${textField({
    name: 'name',
    label: 'Name',
    value: name,
    maxLength: 63,
    hint: 'Such as kari.nordmann. Lower-case letters, digits, dots, hyphens and underscores. No e-mail address.',
    problem: at('Name'),
  })}
${selectField(
  {
    name: 'role',
    label: 'Role',
    value: role,
    problem: at('Role'),
    hint: 'view sees; operate also retries, sends again, checks and replays; admin does everything.',
  },
  roleChoices,
)}</div>
<div class="actions"><button>Create the account</button>
<a class="button secondary" href="${linkTo(context, 'accounts')}">Cancel</a></div>`,
)}`,
  });
}

/** Creates an account with a random password, and shows it. */
async function createAccount(context: SignedIn): Promise<ConsoleResponse> {
  const { deps, request, session } = context;
  const name = (request.form.get('name') ?? '').trim();
  const chosen = request.form.get('role') ?? '';
  const again = (field: 'Name' | 'Role', text: string, status = 400) =>
    newAccount(context, { name, role: chosen, problem: { field, text, status } });
  if (!operatorNamePattern.test(name)) {
    return again(
      'Name',
      'Enter 1 to 63 lower-case letters, digits, dots, hyphens and underscores, beginning with a letter or digit.',
    );
  }
  const role = roles.find((it) => it === chosen);
  if (!role) return again('Role', `Choose ${roles.join(', ')}.`);
  const password = makePassword();
  const { db, keys } = deps.services;
  const uri = await createOperator(db, keys, { name, role, password, by: session });
  if (uri !== undefined) return secretsPage(context, { name, password, uri, title: 'The account is created.' });
  return again('Name', 'The name is taken.', 409);
}

async function resetAccount(context: SignedIn): Promise<ConsoleResponse> {
  return onOthersAccount(context, 'account_reset', async ({ name }) => {
    const password = makePassword();
    const { db, keys } = context.deps.services;
    const uri = await resetOperator(db, keys, { name, password, by: context.session }).catch((error: unknown) => {
      if (error instanceof UnprovenAccount) return 'unproven' as const;
      throw error;
    });
    if (uri === 'unproven') return seeOther(context, `accounts/${name}?result=unproven`);
    return uri === undefined
      ? noSuchAccount(context)
      : secretsPage(context, { name, password, uri, title: 'The account is reset.' });
  });
}

async function changeAccountRole(context: SignedIn): Promise<ConsoleResponse> {
  return onOthersAccount(context, 'account_role', async ({ name }) => {
    const role = roles.find((it) => it === context.request.form.get('role'));
    // The form offers the roles only.
    if (!role) return seeOther(context, `accounts/${name}`);
    const { db, keys } = context.deps.services;
    const changed = await changeRole(db, keys, { name, role, by: context.session, keepsAdmin: true });
    if (changed === 'done') return seeOther(context, `accounts/${name}?result=role`);
    return seeOther(context, `accounts/${name}?result=${changed}`);
  });
}

async function disableAccount(context: SignedIn): Promise<ConsoleResponse> {
  return onOthersAccount(context, 'account_disable', async ({ name }) => {
    const { db, keys } = context.deps.services;
    const changed = await disableOperator(db, keys, { name, by: context.session, keepsAdmin: true });
    if (changed === 'done') return seeOther(context, `accounts/${name}?result=disabled`);
    return seeOther(context, `accounts/${name}?result=${changed}`);
  });
}

/** Runs an action on the account of the URL, unless it is the operator's own: nobody locks themselves out. */
async function onOthersAccount(
  context: SignedIn,
  action: OperatorAction,
  run: (account: ListedOperator) => Promise<ConsoleResponse>,
): Promise<ConsoleResponse> {
  const account = await findAccount(context);
  if (!account) return noSuchAccount(context);
  if (!isOwn(context, account)) return run(account);
  const { deps, session } = context;
  await record(deps.services.db, session, { action, target: account.name, outcome: 'not_possible' });
  return seeOther(context, `accounts/${account.name}?result=own`);
}

interface Secrets {
  readonly name: string;
  readonly password: string;
  readonly uri: string;
  readonly title: string;
}

/** Shows the secrets of an account. They are in no other response, and in no URL. */
function secretsPage(context: SignedIn, { name, password, uri, title }: Secrets): ConsoleResponse {
  return consolePage(context, {
    title: `Secrets of ${name}`,
    section: 'accounts',
    content: html`${notice('good', `${title} Pass on its secrets now: they are not shown again.`)}<h1>Secrets of ${name}</h1>
<p>Give the password and the code below to the operator in person or over a safe channel.</p>
<h2>Password</h2>
<pre tabindex="0" role="region" aria-label="Password">${password}</pre>
<h2>One-time codes</h2>
<p>The operator scans this with an authenticator app, or enters its <code>secret</code> by hand.</p>
${enrolment(uri)}
<div class="actions"><a class="button" href="${linkTo(context, `accounts/${name}`)}">Go to the account</a></div>`,
  });
}
