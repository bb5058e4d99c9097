import { html } from '../../html/html.ts';
import { consolePage } from '../frame.ts';
import { historyPlots } from '../history.ts';
import { type ConsoleResponse, linkTo, type SignedIn } from '../page.ts';
import { time } from '../parts.ts';
import type { Route } from '../route.ts';

export const routes: readonly Route[] = [{ method: 'GET', path: 'history', role: 'view', page: historyPage }];

/** The plots of the overview, over 30 days. */
async function historyPage(context: SignedIn): Promise<ConsoleResponse> {
  return consolePage(context, {
    title: 'Last 30 days',
    section: '',
    content: html`<div class="title"><h1>Last 30 days</h1>
<p class="quiet">${time(new Date())} · <a href="${linkTo(context, 'history')}">Refresh</a> · <a href="${linkTo(context, '')}#history">24 hours</a></p></div>
<h2>All gateways</h2>
${await historyPlots(context, 'day')}`,
  });
}
