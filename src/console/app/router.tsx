import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { isServed } from '../api/call.ts';
import {
  readAuditFilter,
  readBetFilter,
  readBooksFilter,
  readDeliveryFilter,
} from '../pages/filters.ts';
import { Loading } from '../parts/answered.tsx';
import { Heading } from '../parts/heading.tsx';
import { Plain } from '../parts/plain.tsx';
import { known, parseSearch, searchText } from './search.ts';
import { Shell } from './shell.tsx';

/**
 * A page whose code is loaded on the first visit. If that fails the router reloads the console, which is right
 * after an upgrade; while the gateway is away, only this page shows the failure.
 */
const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (error) {
      if (await isServed()) throw error;
      throw new Error('The gateway does not answer', { cause: error });
    }
  }, name);

const root = createRootRoute({
  component: Shell,
  notFoundComponent: PageMissing,
});

const parent = { getParentRoute: () => root };

const routes = [
  createRoute({
    ...parent,
    path: '/',
    validateSearch: known('find'),
    component: lazyPage(() => import('../pages/now/now-page.tsx'), 'NowPage'),
  }),
  createRoute({
    ...parent,
    path: '/operators/$id',
    component: lazyPage(() => import('../pages/operator/operator-page.tsx'), 'OperatorPage'),
  }),
  createRoute({
    ...parent,
    path: '/bets',
    validateSearch: readBetFilter,
    component: lazyPage(() => import('../pages/bets/bets-page.tsx'), 'BetsPage'),
  }),
  createRoute({
    ...parent,
    path: '/players/$id',
    component: lazyPage(() => import('../pages/player/player-page.tsx'), 'PlayerPage'),
  }),
  createRoute({
    ...parent,
    path: '/audit',
    validateSearch: readAuditFilter,
    component: lazyPage(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...parent,
    path: '/bets/$id',
    validateSearch: known('message'),
    component: lazyPage(() => import('../pages/bet/bet-page.tsx'), 'BetStoryPage'),
  }),
  createRoute({
    ...parent,
    path: '/deliveries',
    validateSearch: readDeliveryFilter,
    component: lazyPage(() => import('../pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    ...parent,
    path: '/books',
    validateSearch: readBooksFilter,
    component: lazyPage(() => import('../pages/books/books-page.tsx'), 'BooksPage'),
  }),
  createRoute({
    ...parent,
    path: '/books/$operator/$day',
    component: lazyPage(() => import('../pages/books/statement-page.tsx'), 'StatementPage'),
  }),
  createRoute({
    ...parent,
    path: '/reconciliations',
    component: lazyPage(
      () => import('../pages/reconciliations/reconciliations-page.tsx'),
      'ReconciliationsPage',
    ),
  }),
  createRoute({
    ...parent,
    path: '/reconciliations/$id',
    validateSearch: known('kind'),
    component: lazyPage(
      () => import('../pages/reconciliations/reconciliation-page.tsx'),
      'ReconciliationPage',
    ),
  }),
  createRoute({
    ...parent,
    path: '/settings',
    validateSearch: known('find'),
    component: lazyPage(() => import('../pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  parseSearch,
  stringifySearch: searchText,
  defaultPendingComponent: () => <Loading what="the page" />,
  // Around each page and not only around the root: the header and navigation stay when a page fails.
  defaultErrorComponent: PageFailed,
  // A jump in the history from one operator to another must not keep the first one's results on screen.
  defaultRemountDeps: ({ params }) => params,
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** Shown in place of a page that failed; the rest of the console still works. */
function PageFailed({ error }: { readonly error: unknown }) {
  return (
    <div className="notice bad" role="alert">
      <p>
        <strong>This page went wrong.</strong>{' '}
        <Plain text={error instanceof Error ? error.message : String(error)} />
      </p>
      <button type="button" onClick={() => window.location.reload()}>
        Reload the page
      </button>
    </div>
  );
}

function PageMissing() {
  return (
    <>
      <Heading title="There is no such page" />
      <Link to="/">Go to Now</Link>
    </>
  );
}
