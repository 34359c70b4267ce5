import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { DELIVERABLE_OPERATIONS } from '../../../domain/operation.ts';
import { usePages } from '../../api/pages.ts';
import { Answered, Empty } from '../../parts/answered.tsx';
import { Choice } from '../../parts/choice.tsx';
import { Heading } from '../../parts/heading.tsx';
import { More } from '../../parts/more.tsx';
import { OperatorChoice } from '../../parts/operator-choice.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { DeliveryRows } from './delivery-rows.tsx';
import { type DeliveryFilter, RETRYABLE, readFilter } from './filter.ts';

const route = getRouteApi('/deliveries');

const STATES = ['dead', 'pending', 'held', 'delivered', 'refused', 'superseded', 'resolved'];

/** The deliveries that wait for a wallet, are held or are dead. */
export function DeliveriesPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const deliveries = usePages('GET /admin/deliveries', { ...filter });
  const choose = (change: DeliveryFilter) =>
    void navigate({ search: readFilter({ ...filter, ...change }), replace: true });
  return (
    <>
      <Heading title="Deliveries" query={deliveries}>
        <Choice
          label="State"
          value={filter.state}
          all="All states"
          options={STATES}
          onChange={(state) => choose({ state })}
        />
        <Choice
          label="Operation"
          value={filter.operation}
          all="All operations"
          options={DELIVERABLE_OPERATIONS}
          onChange={(operation) => choose({ operation })}
        />
        <OperatorChoice value={filter.operator} onChange={(operator) => choose({ operator })} />
      </Heading>
      <Answered query={deliveries} what="deliveries">
        {({ pages }) => (
          <Found
            key={JSON.stringify(filter)}
            filter={filter}
            items={pages.flatMap(({ items }) => items)}
          />
        )}
      </Answered>
      <More list={deliveries} />
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
