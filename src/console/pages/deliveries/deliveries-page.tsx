import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { DELIVERABLE_OPERATIONS } from '../../../domain/operation.ts';
import { usePages } from '../../api/pages.ts';
import { Empty } from '../../parts/answered.tsx';
import { filterFields } from '../../parts/filter-fields.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Paged } from '../../parts/paged.tsx';
import { type DeliveryFilter, readDeliveryFilter } from '../filters.ts';
import { BulkActions } from './bulk-actions.tsx';
import { DeliveryRows, RETRYABLE } from './delivery-rows.tsx';

const route = getRouteApi('/deliveries');

const STATES = ['dead', 'pending', 'held', 'delivered', 'refused', 'superseded', 'resolved'];

/** The deliveries that wait for a wallet, are held or are dead. */
export function DeliveriesPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const deliveries = usePages('GET /admin/deliveries', { ...filter });
  const { choice, operator } = filterFields(
    filter,
    (change) =>
      void navigate({ search: readDeliveryFilter({ ...filter, ...change }), replace: true }),
  );
  return (
    <>
      <Heading title="Deliveries" query={deliveries}>
        {choice('state', 'State', 'All states', STATES)}
        {choice('operation', 'Operation', 'All operations', DELIVERABLE_OPERATIONS)}
        {operator()}
      </Heading>
      <Paged list={deliveries} what="deliveries">
        {(items) => <Found key={JSON.stringify(filter)} filter={filter} items={items} />}
      </Paged>
    </>
  );
}

interface FoundProps {
  readonly filter: DeliveryFilter;
  readonly items: Parameters<typeof DeliveryRows>[0]['items'];
}

function Found({ filter, items }: FoundProps) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  // A delivery that has left the list, or can no longer be chosen, is no longer selected.
  const present = useMemo(
    () => items.filter(({ id, state }) => selected.has(id) && RETRYABLE.has(state)),
    [items, selected],
  );
  return (
    <>
      <BulkActions filter={filter} selected={present} onDone={() => setSelected(new Set())} />
      {items.length === 0 ? (
        <Empty title="No deliveries">
          {Object.keys(filter).length === 0
            ? 'Nothing waits for a wallet or for a person.'
            : 'None matches these filters.'}
        </Empty>
      ) : (
        <DeliveryRows items={items} selected={selected} onSelect={setSelected} />
      )}
    </>
  );
}
