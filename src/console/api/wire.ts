import type { AdminApi } from '../../admin/api.ts';
import type { BetShown } from '../../admin/bets.ts';
import type { ConfigurationView } from '../../config/settings-view.ts';
import type { ReloadResult } from '../../config/source.ts';
import type { PersonRole, Right } from '../../domain/caller.ts';
import type { DayPage } from '../../store/books/days.ts';
import type { DayStatement } from '../../store/books/statements.ts';
import type { DeliveryPage } from '../../store/deliveries/delivery-admin.ts';
import type { DeliveryItem } from '../../store/deliveries/delivery-item.ts';

/** What each route that the console uses answers. These are the server's own types: nothing is written twice. */
export interface Answers extends AdminApi {
  readonly 'GET /admin/bets/:transactionId': BetShown;
  readonly 'GET /admin/books/days': DayPage;
  readonly 'GET /admin/books/statements/:operator/:day': DayStatement;
  readonly 'GET /admin/config': ConfigurationView;
  readonly 'GET /admin/deliveries': DeliveryPage;
  readonly 'GET /admin/me': {
    readonly actor: string;
    readonly role: PersonRole;
    readonly rights: readonly Right[];
  };
  readonly 'POST /admin/deliveries/:id/resolve': DeliveryItem;
  readonly 'POST /admin/deliveries/:id/retry': DeliveryItem;
  readonly 'POST /admin/operators/:id/breaker': { readonly state: string };
  readonly 'POST /admin/reload': ReloadResult;
}

export type Route = keyof Answers;
