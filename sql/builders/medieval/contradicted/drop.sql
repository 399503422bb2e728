-- What notes name and deny, of the ends of supported statements, and no contradicted row holds, by reason
-- Grain: one row per reason. Output: (reason, n). Inputs: denial, contradiction, chosen
select
    concat('denied in the context, but ', denial.reason) as reason,
    count(*) as n
from denial
where denial.reason is not null
group by denial.reason
union all
select
    'contradicted statement that would not balance' as reason,
    count(*) as n
from contradiction
anti join chosen
    on contradiction.number = chosen.number and contradiction.wording = chosen.wording and chosen.id is null
having count(*) > 0
order by reason;
