import { html } from '../../html/html.ts';
import { consolePage } from '../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn } from '../frame/page.ts';
import { badge, type Tone, table, time, words } from '../frame/parts.ts';
import { listActivity, type RecordedActivity } from './activity.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: 'activity', role: 'view', page: activityPage }];

const perPage = 50;

const tones: Readonly<Record<RecordedActivity['outcome'], Tone>> = {
  done: 'good',
  rejected: 'bad',
  not_possible: 'neutral',
  problem: 'notice',
  begun: 'neutral',
};

/** What operators did, the newest first. */
async function activityPage(context: SignedIn): Promise<ConsoleResponse> {
  const before = context.request.query.get('before');
  const isPage = before === null || /^\d{1,18}$/.test(before);
  const found = isPage ? await listActivity(context.deps.services.db, perPage + 1, before ?? undefined) : [];
  const shown = found.slice(0, perPage);
  const last = shown.at(-1);
  return consolePage(context, {
    title: 'Activity',
    section: 'activity',
    status: isPage ? 200 : 400,
    content: html`<h1>Activity</h1>
<p>What operators did here and on the command line to accounts, clients and webhook endpoints. It names no patients.</p>
<h2>Actions of operators</h2>
${shown.length === 0 ? html`<p class="empty">${isPage ? 'No entries.' : 'There is no such page.'}</p>` : activityTable(shown)}
<p class="pages">${before !== null && html`<a href="${linkTo(context, 'activity')}">Newest</a> `}${
      found.length > perPage && last && html`<a href="${linkTo(context, `activity?before=${last.id}`)}">Older</a>`
    }</p>`,
  });
}

function activityTable(entries: readonly RecordedActivity[]) {
  return table(
    'The newest first',
    ['Time', 'Operator', 'Action', 'Target', 'Outcome'],
    entries.map(({ at, operator, action, target, outcome }) => [
      time(at),
      operator,
      words(action),
      target === null || target === undefined ? '–' : html`<code>${target}</code>`,
      badge(tones[outcome], words(outcome)),
    ]),
  );
}
