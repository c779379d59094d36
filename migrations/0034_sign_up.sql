-- A link that confirms the address given at a sign-up belongs to no person yet, as an invitation does not.

alter table one_time_links drop constraint one_time_links_purpose_check;
alter table one_time_links add constraint one_time_links_purpose_check
  check (purpose in ('sign_in', 'set_password', 'invitation', 'sign_up'));
alter table one_time_links drop constraint one_time_links_check;
alter table one_time_links add constraint one_time_links_check
  check ((purpose in ('invitation', 'sign_up')) = (person_id is null));
-- How lately a link was mailed to an address.
create index one_time_links_of_email on one_time_links (lower(email), created_at desc);
